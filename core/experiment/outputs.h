// `run --outputs`: hidden states, logits and decisions of every batch in one safetensors file.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/experiment/state.h"

namespace stormcell {

class OutputWriter {
 public:
  /// An empty path writes nothing.
  OutputWriter(const std::string& path, const Experiment::State& state, const ReadyPlan& plan);
  bool open() const { return !path_.empty(); }
  /// Takes what plan.result holds of `batch`: b{i}.encoder_hidden, .decoder_hidden, .logits, .{router}.branch, .{router}.weight.
  void add(const Batch& batch);
  void finish();

 private:
  struct Held {
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<float> reals;
    std::vector<int32_t> integers;
  };
  std::string path_;
  const ReadyPlan& plan_;
  std::string model_;
  std::map<std::string, Held> tensors_;
};

}  // namespace stormcell
