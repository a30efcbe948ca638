// `run --outputs`: hidden states, logits and decisions of every batch in one safetensors file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/experiment/state.h"
#include "core/formats/safetensors_writer.h"

namespace stormcell {

class OutputWriter {
 public:
  /// Declares every tensor and takes its space on the disk; an empty path writes nothing.
  OutputWriter(const std::string& path, const Experiment::State& state, const ReadyPlan& plan);
  bool open() const { return writer_ != nullptr; }
  /// Writes what plan.result holds of `batch`: b{i}.encoder_hidden, .decoder_hidden, .logits, .{router}.branch, .{router}.weight;
  /// and .items where their numbers do not follow each other.
  void add(const Batch& batch);
  void finish();

 private:
  bool is_compacted(const ProgramRouter& router) const;
  int64_t rows_of(const ProgramRouter& router, const Bindings& bindings) const;
  void declare(const Batch& batch, std::vector<TensorDeclaration>& list) const;

  const ReadyPlan& plan_;
  std::unique_ptr<SafetensorsWriter> writer_;
};

}  // namespace stormcell
