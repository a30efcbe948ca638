#include "core/cpu/router_records.h"

#include <algorithm>
#include <cstring>

namespace stormcell::cpu {

RouterRecords::RouterRecords(const Program& program, const Operands& operands, ExecutableLayout& layout,
                             const Bindings& bounds, bool scores)
    : operands_(operands), layout_(layout), room_(program, layout, bounds, scores), rows_(program.routers.size()) {
  for (const RouterId r : rows_.ids()) rows_[r].resize(room_[r].operands.size());
  replayed_.resize(room_.most_choices());
}

bool RouterRecords::has_room(RouterId router, int32_t execution) const {
  return room_.has_room(router, execution, [&](DimId dim) { return operands_.dim(dim); });
}

void RouterRecords::look_up(RouterId router) {
  const std::vector<OperandId>& operands = room_[router].operands;
  for (size_t i = 1; i < operands.size(); ++i) rows_[router][i] = operands_.resolve(operands[i]);
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
  look_up(at.router);
  const CellChain& chain = room_[at.router].chain;
  for (int64_t c = 0; c < cells; ++c) to.ancestor[c] = static_cast<int32_t>(chain.follow(rows_[at.router], c));
}

void RouterRecords::record_scores(RouterId router, const Rows& scores, int32_t execution, std::byte* area) const {
  const RecordLayout& layout = layout_.records[router];
  if (layout.score_columns == 0 || !has_room(router, execution)) return;
  std::memcpy(layout.at(area, execution).scores, scores.data, static_cast<size_t>(scores.elements()) * 4);
}

RecordRoom::Staged RouterRecords::staged(RouterTurn at) const {
  return room_.staged(at, operands_.resolve(room_[at.router].scores).rows,
                      [&](DimId dim) { return operands_.dim(dim); });
}

int32_t* RouterRecords::choices_to_replay(RouterTurn at, const int32_t* choices, int32_t& not_replayed) {
  look_up(at.router);
  const RecordRoom::Staged s = staged(at);
  for (int64_t c = 0; c < s.cells; ++c) {
    const int32_t* from = choices + s.of(c, room_[at.router].chain, rows_[at.router]);
    std::copy_n(from, s.fan_out, replayed_.data() + c * s.fan_out);
    not_replayed += from[0] == kNotRecorded;
  }
  return replayed_.data();
}

void RouterRecords::leave_free_choices(RouterTurn at, int32_t* choices) const {
  const RecordRoom::Staged s = staged(at);
  for (int64_t c = 0; c < s.cells; ++c)
    std::copy_n(replayed_.data() + c * s.fan_out, s.fan_out,
                choices + s.of(c, room_[at.router].chain, rows_[at.router]));
}

}  // namespace stormcell::cpu
