#include "core/runtime/record_room.h"

#include <algorithm>

namespace stormcell {

RecordRoom::RecordRoom(const Program& program, ExecutableLayout& layout, const Bindings& bounds, bool scores)
    : program_(program) {
  find_chains(bounds);
  lay_out(bounds, scores, layout);
}

// The record step behind each router has as inputs what following its cells takes.
void RecordRoom::find_chains(const Bindings& bounds) {
  const Program& p = program_;
  routers_.resize(p.routers.size());
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const Step& step = p.steps[i];
    if (step.kind != StepKind::record) continue;
    const ProgramRouter& router = p.routers[step.router];
    const Operand& d = p.decision_of(router);
    const SpaceId space = p.graph->value(d.value).type.space;
    // The router's own step comes before its record.
    routers_[step.router] = {CellChain(cell_chain(*p.graph, space, router.dense_space), 1), step.inputs,
                             p.steps[i - 1].inputs[0]};
    most_choices_ = std::max(most_choices_, p.dims[d.decision_cells].evaluate(bounds) * d.fan_out);
  }
}

/// Columns of the scores that a router reads: none of one that goes by labels, one where a cell has a number.
int32_t RecordRoom::columns_of_scores(const ProgramRouter& router) const {
  const Graph& g = *program_.graph;
  const Node& node = g.node(router.node);
  const TensorType& scores = g.value(node.inputs[0]).type;
  if (scores.dtype != DType::f32) return 0;
  return scores.content.empty() ? 1 : static_cast<int32_t>(scores.content[0].constant());
}

void RecordRoom::lay_out(const Bindings& bounds, bool scores, ExecutableLayout& layout) const {
  const auto most = [&](DimId dim) { return program_.dims[dim].evaluate(bounds); };
  for (const ProgramRouter& r : program_.routers) {
    const Operand& d = program_.decision_of(r);
    const RecordLayout records{
        {most(d.decision_cells), d.fan_out, d.branches}, scores ? columns_of_scores(r) : 0, layout.record_bytes};
    layout.records.push_back(records);
    layout.record_bytes += records.bytes() * most(r.executions);
  }
}

}  // namespace stormcell
