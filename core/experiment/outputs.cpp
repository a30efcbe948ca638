#include "core/experiment/outputs.h"

#include <algorithm>

namespace stormcell {
namespace {

std::string prefix_of(const Batch& batch) { return "b" + std::to_string(batch.index) + "."; }

}  // namespace

OutputWriter::OutputWriter(const std::string& path, const Experiment::State& state, const ReadyPlan& plan) : plan_(plan) {
  if (path.empty()) return;
  std::vector<TensorDeclaration> list;
  for (int64_t b = 0; b < state.data->batch_count(); ++b) declare(state.data->batch(b), list);
  writer_ = std::make_unique<SafetensorsWriter>(
      path, std::move(list), SafetensorsMetadata{{"format", "pt"}, {"version", STORMCELL_VERSION}, {"model", state.model->name}});
}

void OutputWriter::declare(const Batch& batch, std::vector<TensorDeclaration>& list) const {
  const Graph& g = *plan_.graph;
  const Bindings bindings = bindings_of(g, batch, 0);
  for (const NamedValue& out : g.outputs) {
    std::vector<int64_t> shape;
    for (const Dim& d : g.shape(out.value)) shape.push_back(d.evaluate(bindings));
    // Sequence and position are separate extents, as the reference has them.
    if (!shape.empty() && batch.sequences > 0 && shape[0] % batch.sequences == 0) {
      shape[0] /= batch.sequences;
      shape.insert(shape.begin(), batch.sequences);
    }
    list.push_back({prefix_of(batch) + out.name, g.value(out.value).type.dtype == DType::i32 ? DType::i32 : DType::f32, std::move(shape)});
  }
  const Program& program = *plan_.program;
  for (const int32_t first : plan_.records.routers.first) {
    const ProgramRouter& router = program.routers[static_cast<size_t>(first)];
    const Operand& d = program.operands[static_cast<size_t>(router.decision)];
    // Of a nested router: as many cells as may come, since how many do is not known before it runs.
    const std::vector<int64_t> shape{program.dims[static_cast<size_t>(d.decision_cells)].evaluate(bindings), d.fan_out};
    list.push_back({prefix_of(batch) + router.name + ".branch", DType::i32, shape});
    list.push_back({prefix_of(batch) + router.name + ".weight", DType::f32, shape});
  }
}

void OutputWriter::add(const Batch& batch) {
  if (!writer_) return;
  for (const OutputValue& out : plan_.result.outputs) {
    if (out.dtype == DType::i32) {
      writer_->append(prefix_of(batch) + out.name, out.integers.data(), out.integers.size() * 4);
    } else {
      writer_->append(prefix_of(batch) + out.name, out.reals.data(), out.reals.size() * 4);
    }
  }
  const Program& program = *plan_.program;
  const NamedRouters& named = plan_.records.routers;
  std::vector<const ExecutedDecision*> decided(named.first.size());
  for (const ExecutedDecision* d : standing_decisions(program, named, plan_.result))
    if (d->turn == 0) decided[static_cast<size_t>(named.of[static_cast<size_t>(d->router)])] = d;
  const Bindings bindings = bindings_of(*plan_.graph, batch, 0);
  for (size_t n = 0; n < decided.size(); ++n) {
    const ProgramRouter& router = program.routers[static_cast<size_t>(named.first[n])];
    const Operand& shape = program.operands[static_cast<size_t>(router.decision)];
    const auto slots = static_cast<size_t>(program.dims[static_cast<size_t>(shape.decision_cells)].evaluate(bindings) * shape.fan_out);
    std::vector<int32_t> branch(slots, -1);
    std::vector<float> weight(slots);
    if (decided[n]) {
      std::transform(decided[n]->choice.begin(), decided[n]->choice.end(), branch.begin(), [](int32_t c) { return std::max(c, -1); });
      std::copy(decided[n]->weight.begin(), decided[n]->weight.end(), weight.begin());
    }
    writer_->append(prefix_of(batch) + router.name + ".branch", branch.data(), branch.size() * 4);
    writer_->append(prefix_of(batch) + router.name + ".weight", weight.data(), weight.size() * 4);
  }
}

void OutputWriter::finish() {
  if (writer_) writer_->finish();
}

}  // namespace stormcell
