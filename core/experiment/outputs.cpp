#include "core/experiment/outputs.h"

#include "core/formats/safetensors_writer.h"

namespace stormcell {

OutputWriter::OutputWriter(const std::string& path, const Experiment::State& state, const ReadyPlan& plan)
    : path_(path), plan_(plan), model_(state.model->name) {}

void OutputWriter::add(const Batch& batch) {
  if (path_.empty()) return;
  const std::string prefix = "b" + std::to_string(batch.index) + ".";
  for (const OutputValue& out : plan_.result.outputs) {
    // Sequence and position are separate extents, as the reference has them.
    std::vector<int64_t> shape = out.shape;
    if (!shape.empty() && batch.sequences > 0 && shape[0] % batch.sequences == 0) {
      shape[0] /= batch.sequences;
      shape.insert(shape.begin(), batch.sequences);
    }
    tensors_[prefix + out.name] = {out.dtype, std::move(shape), out.reals, out.integers};
  }
  for (const ExecutedDecision& d : plan_.result.decisions) {
    if (d.turn > 0) continue;
    const std::string& router = plan_.program->routers[static_cast<size_t>(d.router)].name;
    Held branch{DType::i32, {d.shape.cells, d.shape.fan_out}, {}, d.choice};
    for (int32_t& choice : branch.integers)
      if (choice < 0) choice = -1;
    tensors_[prefix + router + ".branch"] = std::move(branch);
    tensors_[prefix + router + ".weight"] = {DType::f32, {d.shape.cells, d.shape.fan_out}, d.weight, {}};
  }
}

void OutputWriter::finish() {
  if (path_.empty()) return;
  std::vector<TensorToWrite> list;
  for (const auto& [name, t] : tensors_)
    list.push_back({name, t.dtype, t.shape, t.dtype == DType::i32 ? static_cast<const void*>(t.integers.data()) : t.reals.data()});
  write_safetensors(path_, list, {{"format", "pt"}, {"version", STORMCELL_VERSION}, {"model", model_}});
}

}  // namespace stormcell
