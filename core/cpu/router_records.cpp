#include "core/cpu/router_records.h"

#include <algorithm>
#include <cstring>

namespace stormcell::cpu {

RouterRecords::RouterRecords(const Program& program, const Operands& operands, ExecutableLayout& layout, const Bindings& bounds,
                             bool scores)
    : program_(program), operands_(operands), layout_(layout) {
  find_chains(bounds);
  lay_out(bounds, scores, layout);
}

// The record step behind each router has as inputs what following its cells takes.
void RouterRecords::find_chains(const Bindings& bounds) {
  const Program& p = program_;
  chains_.resize(p.routers.size());
  score_operand_.resize(p.routers.size());
  int64_t choices = 0;
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const Step& step = p.steps[i];
    if (step.kind != StepKind::record) continue;
    const Operand& d = operands_[router(step.router).decision];
    const SpaceId space = p.graph->value(d.value).type.space;
    auto& [chain, operands, rows] = chains_[step.router];
    chain = CellChain(cell_chain(*p.graph, space, router(step.router).dense_space), 1);
    operands = step.inputs;
    rows.resize(operands.size());
    // The router's own step stands before its record.
    score_operand_[step.router] = p.steps[i - 1].inputs[0];
    choices = std::max(choices, p.dims[d.decision_cells].evaluate(bounds) * d.fan_out);
  }
  replayed_.resize(static_cast<size_t>(choices));
}

/// Columns of the scores that a router reads: none of one that goes by labels, one where a cell has a number.
int32_t RouterRecords::columns_of_scores(const ProgramRouter& router) const {
  const Graph& g = *program_.graph;
  const Node& node = g.node(router.node);
  const TensorType& scores = g.value(node.inputs[0]).type;
  if (scores.dtype != DType::f32) return 0;
  return scores.content.empty() ? 1 : static_cast<int32_t>(scores.content[0].constant());
}

void RouterRecords::lay_out(const Bindings& bounds, bool scores, ExecutableLayout& layout) const {
  const auto most = [&](DimId dim) { return program_.dims[dim].evaluate(bounds); };
  for (const ProgramRouter& r : program_.routers) {
    const Operand& d = operands_[r.decision];
    const RecordLayout records{{most(d.decision_cells), d.fan_out, d.branches}, scores ? columns_of_scores(r) : 0, layout.record_bytes};
    layout.records.push_back(records);
    layout.record_bytes += records.bytes() * most(r.executions);
  }
}

bool RouterRecords::has_room(RouterId id, int32_t execution) const { return execution < operands_.dim(router(id).executions); }

void RouterRecords::look_up(Chain& chain) const {
  for (size_t i = 1; i < chain.operands.size(); ++i) chain.rows[i] = operands_.resolve(chain.operands[i]);
}

void RouterRecords::record(const Step& step, RouterTurn at, int32_t execution, std::byte* area) {
  if (!has_room(at.router, execution)) return;
  const RecordView to = layout_.records[at.router].at(area, execution);
  const DecisionView& d = operands_.decision(step.inputs[0]);
  const int64_t cells = *d.cells, choices = cells * d.fan_out;
  *to.header = {*d.cells, at.turn};
  std::copy_n(d.choice, choices, to.choice);
  std::copy_n(d.choice_weight, choices, to.weight);
  std::copy_n(d.margin, cells, to.margin);
  std::copy_n(d.padded, d.branches, to.padded);
  Chain& chain = chains_[at.router];
  look_up(chain);
  for (int64_t c = 0; c < cells; ++c) to.ancestor[c] = static_cast<int32_t>(chain.chain.follow(chain.rows, c));
}

void RouterRecords::record_scores(RouterId router, const Rows& scores, int32_t execution, std::byte* area) const {
  const RecordLayout& layout = layout_.records[router];
  if (layout.score_columns == 0 || !has_room(router, execution)) return;
  std::memcpy(layout.at(area, execution).scores, scores.data, static_cast<size_t>(scores.elements()) * 4);
}

RouterRecords::Staged RouterRecords::staged(RouterTurn at) const {
  const ProgramRouter& r = router(at.router);
  const Operand& d = operands_[r.decision];
  const int64_t all = operands_.dim(program_.replayed_rows(r));
  const int64_t came = operands_.resolve(score_operand_[at.router]).rows;
  return {at.turn * all * d.fan_out, came, d.fan_out, r.by_row};
}

int32_t* RouterRecords::choices_to_replay(RouterTurn at, const int32_t* choices, int32_t& not_replayed) {
  Chain& chain = chains_[at.router];
  look_up(chain);
  const Staged s = staged(at);
  for (int64_t c = 0; c < s.cells; ++c) {
    const int32_t* from = choices + s.first + (s.by_row ? chain.chain.follow(chain.rows, c) : c) * s.fan_out;
    std::copy_n(from, s.fan_out, replayed_.data() + c * s.fan_out);
    not_replayed += from[0] == kNotRecorded;
  }
  return replayed_.data();
}

void RouterRecords::leave_free_choices(RouterTurn at, int32_t* choices) const {
  const Chain& chain = chains_[at.router];
  const Staged s = staged(at);
  for (int64_t c = 0; c < s.cells; ++c)
    std::copy_n(replayed_.data() + c * s.fan_out, s.fan_out,
                choices + s.first + (s.by_row ? chain.chain.follow(chain.rows, c) : c) * s.fan_out);
}

}  // namespace stormcell::cpu
