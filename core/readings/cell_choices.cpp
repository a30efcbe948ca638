#include "core/readings/cell_choices.h"

#include <algorithm>

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

/// The row of a decision that is of this cell; -1: none is.
int64_t row_of(const StoredDecision& d, const BatchSpace& table, const CellPlace& place) {
  const int64_t line = table.cells.index_of(place.sequence);
  if (line < 0) return -1;
  const int64_t position = int64_t{place.position} - table.cells.start(line);
  if (position < 0 || position >= table.cells.per_sequence) return -1;
  const int64_t cell = line * table.cells.per_sequence + position;
  if (d.ancestor.empty()) return cell < d.cells ? cell : -1;
  const auto at = std::ranges::find(d.ancestor, static_cast<int32_t>(cell));
  return at == d.ancestor.end() ? -1 : at - d.ancestor.begin();
}

/// Whether the row holds what the step says: a router of another space may have a cell at the same place.
bool is_of(const StoredDecision& d, int64_t row, const CellTrail::Step& step) {
  return std::equal(step.branches.begin(), step.branches.end(), d.choice.begin() + row * d.fan_out,
                    d.choice.begin() + (row + 1) * d.fan_out);
}

CellChoice choice_at(const StoredDecision& d, int64_t row) {
  CellChoice choice;
  if (!d.margin.empty()) choice.margin = static_cast<double>(d.margin[row]);
  if (d.scores.empty() || d.score_columns != d.branches) return choice;
  const auto chosen = d.choice.begin() + row * d.fan_out;
  const auto scores = d.scores.begin() + row * d.score_columns;
  for (int32_t b = 0; b < d.branches; ++b) {
    // A branch that dropped the cell was chosen, too.
    if (std::any_of(chosen, chosen + d.fan_out, [b](int32_t c) { return c == b || c == ~b; })) continue;
    if (choice.runner_up < 0 || scores[b] > scores[choice.runner_up]) choice.runner_up = b;
  }
  return choice;
}

}  // namespace

std::shared_ptr<const std::vector<CellChoice>> read_cell_choices(const std::string& file, int64_t run,
                                                                 const CellTrail& trail) {
  may_block("read_cell_choices");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto choices = std::make_shared<std::vector<CellChoice>>(trail.steps.size());
  for (size_t s = 0; s < trail.steps.size(); ++s) {
    const CellTrail::Step& step = trail.steps[s];
    const auto router = std::ranges::find(layout.routers, step.router, &RouterInfo::name);
    if (router == layout.routers.end()) continue;
    const auto d = reader.decision(summary.id, static_cast<int32_t>(router - layout.routers.begin()), step.batch);
    if (!d || (d->margin.empty() && d->scores.empty())) continue;
    for (const BatchSpace& table : reader.spaces(summary.id, step.batch)) {
      if (table.space != router->space) continue;
      const int64_t row = row_of(*d, table, trail.place);
      if (row >= 0 && is_of(*d, row, step)) (*choices)[s] = choice_at(*d, row);
    }
  }
  return choices;
}

}  // namespace stormcell
