// A check's look at one batch: cells, masks, items, step events, guards.
#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/counted.h"
#include "core/session/check_run.h"
#include "core/session/schema.h"

namespace stormcell {
namespace {

using sqlite::Statement;

std::string named(int64_t batch) { return "batch " + std::to_string(batch); }

void check_space(const CheckedRun& run, int64_t batch, const BatchSpace& s) {
  if (s.space < 0 || static_cast<size_t>(s.space) >= run.layout.spaces.size())
    run.damaged(named(batch) + " has cells of a space that is not there");
  const std::string where = named(batch) + ", cells of " + run.layout.spaces[s.space];
  const int64_t cells = s.cells.cells(),
                real = s.mask.empty() ? cells : std::accumulate(s.mask.begin(), s.mask.end(), int64_t{0});
  if (s.real_cells != real)
    run.damaged(where + ": real_cells is " + std::to_string(s.real_cells) + ", " +
                (s.mask.empty() ? "the cells are " : "the mask has ") + std::to_string(real));
  if (!s.tokens.empty() && std::ssize(s.tokens) != cells)
    run.damaged(where + ": " + counted(std::ssize(s.tokens), "token") + " of " + counted(cells, "cell"));
}

void check_sequences(const CheckedRun& run, const BatchSummary& b, const std::vector<BatchSpace>& spaces) {
  if (spaces.empty()) return;
  int64_t most = 0, first = spaces[0].cells.first_sequence;
  for (const BatchSpace& s : spaces)
    most = std::max<int64_t>(most, s.cells.sequences), first = std::min(first, s.cells.first_sequence);
  if (b.sequences != most)
    run.damaged(named(b.number) + " counts " + counted(b.sequences, "sequence") + " of " + std::to_string(most));
  if (!b.listed && b.first_sequence != first)
    run.damaged(named(b.number) + " begins with sequence " + std::to_string(b.first_sequence) + ", its cells with " +
                std::to_string(first));
}

/// The table by which the batches of an item are found.
void check_items(const CheckedRun& run, int64_t batch, const std::vector<BatchSpace>& spaces) {
  if (spaces.empty() || !spaces[0].items) return;
  Statement find(run.state.db, "SELECT 1 FROM batch_item WHERE run = ? AND item = ? AND batch = ?");
  for (const int64_t item : *spaces[0].items) {
    find.bind(1, run.summary.id).bind(2, item).bind(3, batch);
    if (!find.step()) run.damaged(named(batch) + " lists item " + std::to_string(item) + ", batch_item does not");
    find.reset();
  }
}

void check_events(const CheckedRun& run, int64_t batch) {
  for (const StepEvent& e : run.reader.events(run.summary.id, batch))
    if (e.step >= run.layout.steps.size() || e.end_ns < e.begin_ns)
      run.damaged(named(batch) + " has an event of step " + std::to_string(e.step) + " of " +
                  std::to_string(run.layout.steps.size()));
}

void check_misses(const CheckedRun& run, const BatchSummary& b) {
  Statement sum(run.state.db, "SELECT total(misses) FROM guard_miss WHERE batch = ?");
  sum.bind(1, batch_key(run.summary.id, b.number));
  if (sum.step() && sum.real(0) != static_cast<double>(b.guard_misses))
    run.damaged(named(b.number) + " counts " + counted(b.guard_misses, "miss") + " of guards, guard_miss others");
}

std::map<int64_t, std::string> labels_of(const CheckedRun& run, const BatchSummary& b,
                                         const std::vector<BatchSpace>& spaces) {
  std::map<int64_t, std::string> labels;
  const auto take = [&](int64_t place, int64_t item, int64_t count) {
    for (SequenceInput& in : run.reader.inputs(run.summary.id, {item, item + count}))
      if (!in.label.empty()) labels.emplace(place + in.sequence - item, std::move(in.label));
  };
  if (!b.listed) {
    take(0, b.first_sequence, b.sequences);
  } else if (!spaces.empty() && spaces[0].items) {
    for (size_t i = 0; i < spaces[0].items->size(); ++i) take(static_cast<int64_t>(i), (*spaces[0].items)[i], 1);
  }
  return labels;
}

}  // namespace

const BatchSpace* CheckedBatch::find_space(int32_t space) const {
  const auto at = std::find_if(spaces.begin(), spaces.end(), [&](const BatchSpace& s) { return s.space == space; });
  return at == spaces.end() ? nullptr : &*at;
}

std::optional<CheckedBatch> check_batch(const CheckedRun& run, int64_t number) {
  const std::vector<BatchSummary> found = run.reader.batches(run.summary.id, {number, number + 1});
  if (found.empty()) return {};
  CheckedBatch batch{number, run.reader.spaces(run.summary.id, number), {}};
  for (const BatchSpace& s : batch.spaces) check_space(run, number, s);
  check_sequences(run, found[0], batch.spaces);
  check_items(run, number, batch.spaces);
  check_events(run, number);
  check_misses(run, found[0]);
  if (number <= run.counted_through) batch.labels = labels_of(run, found[0], batch.spaces);
  return batch;
}

void check_rows_of(const CheckedRun& run, const StoredDecision& d, int32_t router, const CheckedBatch& batch) {
  const std::string where = named(batch.number) + ": the decision of " + run.router(router).name;
  const BatchSpace* space = batch.find_space(run.router(router).space);
  if (!space) run.damaged(where + " is about cells that the batch does not have");
  const int64_t rows = space->cells.cells();
  const bool fits = d.ancestor.empty() ? d.cells <= rows
                                       : std::all_of(d.ancestor.begin(), d.ancestor.end(),
                                                     [&](int32_t row) { return row >= 0 && row < rows; });
  if (!fits) run.damaged(where + " is about more cells than the batch has, " + std::to_string(rows));
}

// A run that was killed has no sums yet.
void check_guards(const CheckedRun& run) {
  std::map<int32_t, GuardTotal> of_step;
  GuardTotal all;
  for (const GuardTotal& g : run.reader.guards(run.summary.id)) {
    if (g.step < 0 || static_cast<size_t>(g.step) >= run.layout.steps.size())
      run.damaged("a guard is step " + std::to_string(g.step) + " of " + std::to_string(run.layout.steps.size()));
    of_step[g.step] = g, all.hits += g.hits, all.misses += g.misses;
    run.state.check_count(all.hits), run.state.check_count(all.misses);
  }
  if (!run.has_ended) return;
  const auto bind = [&](Statement& s) {
    s.bind(1, batch_key(run.summary.id, 0)).bind(2, batch_key(run.summary.id + 1, 0) - 1);
  };
  Statement sums(run.state.db, "SELECT total(guard_hits), total(guard_misses) FROM batch WHERE id BETWEEN ? AND ?");
  bind(sums);
  if (sums.step() && (sums.real(0) != static_cast<double>(all.hits) || sums.real(1) != static_cast<double>(all.misses)))
    run.damaged("the guards' sums are not those of its batches");
  Statement misses(run.state.db,
                   "SELECT step, total(misses) FROM guard_miss WHERE batch BETWEEN ? AND ? GROUP BY step");
  for (bind(misses); misses.step();)
    if (static_cast<double>(of_step[static_cast<int32_t>(misses.integer(0))].misses) != misses.real(1))
      run.damaged("the misses of guard step " + std::to_string(misses.integer(0)) +
                  " are not the sum of those of its batches");
}

}  // namespace stormcell
