#include "core/bench/outputs.h"

#include <algorithm>
#include <map>

namespace stormcell {
namespace {

constexpr int32_t kDropped = -1, kNotComputed = -2;

std::string prefix_of(const Batch& batch) { return "b" + std::to_string(batch.index) + "."; }

}  // namespace

OutputWriter::OutputWriter(const std::string& path, const ExperimentState& state, const ReadyPlan& plan) : plan_(plan) {
  if (path.empty()) return;
  std::vector<TensorDeclaration> list;
  std::map<PictureSize, CompiledPlan> of_size;
  for (int64_t b = 0; b < state.data->batch_count(); ++b) {
    const Batch batch = state.data->outline(b);
    const auto known = of_size.find(batch.picture);
    declare(known != of_size.end() ? known->second
                                   : of_size.emplace(batch.picture, plan.lowered(batch.picture)).first->second,
            batch, list);
  }
  writer_ = std::make_unique<SafetensorsWriter>(
      path, std::move(list),
      SafetensorsMetadata{{"format", "pt"}, {"version", STORMCELL_VERSION}, {"model", state.model->name}});
}

void OutputWriter::declare(const CompiledPlan& plan, const Batch& batch, std::vector<TensorDeclaration>& list) {
  const Graph& g = *plan.graph;
  const Bindings bindings = bindings_of(g, batch, 0);
  for (const NamedValue& out : g.outputs) {
    std::vector<int64_t> shape;
    for (const Dim& d : g.shape(out.value)) shape.push_back(d.evaluate(bindings));
    // Sequence and position are separate extents, as the reference has them, where every item has as many cells; one
    // value an item has no position.
    const SpaceId space = g.value(out.value).type.space;
    const bool is_even = space == kNone || g.space(space).kind == SpaceKind::dense;
    if (is_even && !shape.empty() && batch.size() > 0 && shape[0] % batch.size() == 0) {
      shape[0] /= batch.size();
      shape.insert(shape.begin(), batch.size());
    }
    list.push_back({prefix_of(batch) + out.name, g.value(out.value).type.dtype == DType::i32 ? DType::i32 : DType::f32,
                    std::move(shape)});
  }
  if (!batch.is_consecutive()) list.push_back({prefix_of(batch) + "items", DType::i64, {batch.size()}});
  const Program& program = *plan.program;
  for (const RouterId first : plan.records->routers.first) {
    const ProgramRouter& router = program.routers[first];
    const Operand& d = program.operands[router.decision];
    const std::vector<int64_t> shape{rows_of(program, router, bindings), d.fan_out};
    list.push_back({prefix_of(batch) + router.name + ".branch", DType::i32, shape});
    list.push_back({prefix_of(batch) + router.name + ".weight", DType::f32, shape});
    if (is_nested(program, router)) list.push_back({prefix_of(batch) + router.name + ".cell", DType::i32, {shape[0]}});
  }
}

/// The router decides about the real cells among those of its dense space.
bool OutputWriter::is_compacted(const Program& program, const ProgramRouter& router) {
  const SpaceId space = program.graph->value(program.operands[router.decision].value).type.space;
  return program.graph->space(space).kind == SpaceKind::ragged &&
         program.graph->space(space).base == router.dense_space;
}

/// Whether the cells that come to the router are known only when it runs.
bool OutputWriter::is_nested(const Program& program, const ProgramRouter& router) {
  const SpaceKind kind =
      program.graph->space(program.graph->value(program.operands[router.decision].value).type.space).kind;
  return kind != SpaceKind::root && kind != SpaceKind::dense && !is_compacted(program, router);
}

/// Cells that are written of a router: those of its dense space, or, nested, as many as may come, since how many do is
/// not known before it runs.
int64_t OutputWriter::rows_of(const Program& program, const ProgramRouter& router, const Bindings& bindings) {
  const Operand& d = program.operands[router.decision];
  return program.dims[is_compacted(program, router) ? router.dense_cells : d.decision_cells].evaluate(bindings);
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
  if (!batch.is_consecutive()) writer_->append(prefix_of(batch) + "items", batch.items.data(), batch.items.size() * 8);
  const Program& program = *plan_.program;
  const NamedRouters& named = plan_.records->routers;
  std::vector<const ExecutedDecision*> decided(named.first.size());
  for (const ExecutedDecision* d : standing_decisions(program, named, plan_.result))
    if (d->turn == 0) decided[named.of[d->router]] = d;
  const Bindings bindings = bindings_of(*plan_.graph, batch, 0);
  for (size_t n = 0; n < decided.size(); ++n) {
    const ProgramRouter& router = program.routers[named.first[n]];
    const Operand& shape = program.operands[router.decision];
    const bool compacted = is_compacted(program, router);
    const size_t slots = rows_of(program, router, bindings) * shape.fan_out;
    std::vector<int32_t> branch(slots, kNotComputed);
    std::vector<float> weight(slots);
    const int64_t cells = decided[n] ? decided[n]->shape.cells : 0;
    for (int64_t i = 0; i < cells * shape.fan_out; ++i) {
      const auto from = static_cast<size_t>(i), cell = static_cast<size_t>(i / shape.fan_out);
      const size_t to =
          compacted ? static_cast<size_t>(decided[n]->ancestor[cell] * shape.fan_out + i % shape.fan_out) : from;
      branch[to] = std::max(decided[n]->choice[from], kDropped);
      weight[to] = decided[n]->weight[from];
    }
    writer_->append(prefix_of(batch) + router.name + ".branch", branch.data(), branch.size() * 4);
    writer_->append(prefix_of(batch) + router.name + ".weight", weight.data(), weight.size() * 4);
    if (!is_nested(program, router)) continue;
    std::vector<int32_t> cell(slots / static_cast<size_t>(shape.fan_out), -1);
    for (size_t i = 0; i < static_cast<size_t>(cells); ++i)
      cell[i] = decided[n]->ancestor.empty() ? static_cast<int32_t>(i) : decided[n]->ancestor[i];
    writer_->append(prefix_of(batch) + router.name + ".cell", cell.data(), cell.size() * 4);
  }
}

void OutputWriter::finish() {
  if (writer_) writer_->finish();
}

}  // namespace stormcell
