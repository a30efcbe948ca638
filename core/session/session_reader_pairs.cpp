// Pairs of branches: transitions along the edges of the routers' graph, and branches that one cell took together.
#include <algorithm>
#include <optional>

#include "core/profile/layout_edges.h"
#include "core/profile/statistics.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

PairTable SessionReader::transitions(int64_t run, int32_t router, int32_t next, BatchRange batches) const {
  state_->router(run, router);
  return find_edge(state_->layout(run), router, next) < 0
             ? PairTable{}
             : state_->pairs(PairKind::transition, run, router, next, batches);
}
PairTable SessionReader::coactivation(int64_t run, int32_t router, BatchRange batches) const {
  return state_->router(run, router).fan_out < 2 ? PairTable{}
                                                 : state_->pairs(PairKind::coactivation, run, router, router, batches);
}

namespace {

bool fits(const StoredDecision& d, const RouterInfo& info) {
  return d.branches == info.branches && d.fan_out == info.fan_out;
}

// The number of rows of the routed space that a decision covers.
int64_t rows_of(const StoredDecision& d) {
  int64_t most = d.ancestor.empty() ? d.cells : 0;
  for (const int32_t row : d.ancestor) most = std::max<int64_t>(most, int64_t{row} + 1);
  return most;
}

}  // namespace

// Counts the pairs of one batch again from its decisions; adds nothing if they were not recorded.
void SessionReader::State::count_pairs(PairKind kind, int64_t run, int32_t router, int32_t to,
                                       std::span<const uint8_t> branches, int64_t batch, std::vector<int32_t>& scratch,
                                       PairCounter& counter) const {
  const auto decision_of = [&](int32_t of) -> std::optional<StoredDecision> {
    Statement find(db, "SELECT data FROM decision WHERE id = ?");
    find.bind(1, decision_key(batch_key(run, batch), of));
    if (!find.step()) return std::nullopt;
    return blob::read_decision(find.blob(0), path);
  };
  const RouterInfo &from_info = this->router(run, router), &to_info = this->router(run, to);
  const auto to_decision = decision_of(to);
  const auto from_decision = kind == PairKind::coactivation ? std::nullopt : decision_of(router);
  if (!to_decision || (!from_decision && kind != PairKind::coactivation)) return;
  if (!fits(*to_decision, to_info) || (from_decision && !fits(*from_decision, from_info)))
    damaged("a decision has the wrong number of branches");
  Statement space(db, "SELECT sequences * per_sequence, per_sequence, mask FROM batch_space WHERE id = ?");
  space.bind(1, space_key(batch_key(run, batch), to_info.space));
  const auto mask =
      space.step() ? blob::read_mask(space.blob(2), space.integer(0), space.integer(1), path) : std::vector<uint8_t>();
  const int64_t needed = std::max(rows_of(*to_decision), from_decision ? rows_of(*from_decision) : 0);
  if (!mask.empty() && needed > std::ssize(mask)) damaged("a mask is too short");
  if (from_decision)
    add_transitions({from_decision->record(router), from_decision->fan_out},
                    {to_decision->record(to), to_decision->fan_out}, branches, mask, scratch, counter);
  else
    add_coactivation({to_decision->record(to), to_decision->fan_out}, mask, counter);
}

// The range is cut into the largest stored windows; the rest is counted again from the decisions.
PairTable SessionReader::State::pairs(PairKind kind, int64_t run, int32_t router, int32_t to, BatchRange of) const {
  const int32_t edge = kind == PairKind::coactivation ? -1 : find_edge(layout(run), router, to);
  const std::vector<uint8_t> branches =
      edge < 0 ? std::vector<uint8_t>() : branch_flags(layout(run), layout(run).edges[edge]);
  const int32_t rows = this->router(run, router).branches, columns = this->router(run, to).branches;
  const int64_t all = batches(run);
  const auto [first, end] = of.within(all);
  PairTable sum{rows, columns, {}};
  PairCounter counter(rows, columns);
  std::vector<int32_t> scratch;
  Statement range(db, "SELECT min(level), max(level) FROM pair_window WHERE router = ? AND kind = ? AND next = ?");
  range.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind)).bind(3, router_key(run, to));
  range.step();
  const bool stored = !range.null(0);
  const auto level_of = [&](int column) {
    return static_cast<int32_t>(std::clamp<int64_t>(range.integer(column), 0, 15));
  };
  const int32_t finest = level_of(0), coarsest = level_of(1);
  Statement find(
      db, "SELECT data FROM pair_window WHERE router = ? AND kind = ? AND next = ? AND level = ? AND number = ?");
  for (int64_t at = first; at < end;) {
    bool taken = false;
    for (int32_t level = coarsest; stored && level >= finest && !taken; --level) {
      const int64_t size = int64_t{1} << (kWindowBits * level);
      if (at % size != 0 || (at + size > end && end < all)) continue;
      find.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind)).bind(3, router_key(run, to));
      find.bind(4, int64_t{level}).bind(5, window_of(at, level));
      if (find.step()) {
        PairTable part = blob::read_pairs(find.blob(0), path);
        if (part.rows != sum.rows || part.columns != sum.columns) damaged("a table of pairs has the wrong size");
        add(part, sum);
        at += size;
        taken = true;
      }
      find.reset();
    }
    if (!taken) count_pairs(kind, run, router, to, branches, at++, scratch, counter);
  }
  add(counter.take(), sum);
  return sum;
}

}  // namespace stormcell
