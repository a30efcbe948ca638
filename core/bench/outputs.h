// `run --outputs`: hidden states, logits and decisions of every batch in one safetensors file.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/bench/state.h"
#include "core/formats/safetensors_writer.h"

namespace stormcell {

class OutputWriter {
 public:
  /// Declares every tensor and takes its space on the disk; an empty path writes nothing.
  OutputWriter(const std::string& path, const ExperimentState& state, const ReadyPlan& plan);
  bool open() const { return writer_ != nullptr; }
  /// Writes the results of `batch` in plan.result: b{i}.encoder_hidden, .decoder_hidden, .logits, .{router}.branch,
  /// .{router}.weight. A router that gets only some cells also has .{router}.cell [rows]: the row of each among the
  /// cells of its dense space, -1 behind the last. If the numbers of the items do not follow each other, .items has
  /// them. No graph of a forward pass has routers that decide in turns.
  void add(const Batch& batch);
  void finish();

 private:
  static bool is_compacted(const Program& program, const ProgramRouter& router);
  static bool is_nested(const Program& program, const ProgramRouter& router);
  static int64_t rows_of(const Program& program, const ProgramRouter& router, const Bindings& bindings);
  static void declare(const CompiledPlan& plan, const Batch& batch, std::vector<TensorDeclaration>& list);

  const ReadyPlan& plan_;
  std::unique_ptr<SafetensorsWriter> writer_;
};

}  // namespace stormcell
