// Single batches: their cells, decisions and step events, and the way of one cell.
#include <algorithm>

#include "core/base/counted.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

namespace {

bool is_batch(int64_t number) { return number >= 0 && number < kMostBatches; }

/// [spaces] 1: its cells have cells of `space` as members, and a router sends them.
std::vector<uint8_t> spaces_above(const RunLayout& layout, int32_t space) {
  std::vector<uint8_t> above(layout.spaces.size(), 0);
  for (const RouterInfo& router : layout.routers) {
    if (router.space != space) continue;
    // A damaged file may name parents in a circle.
    int32_t parent = router.parent;
    for (size_t steps = 0; parent >= 0 && steps < layout.routers.size(); ++steps) {
      const RouterInfo& info = layout.routers[parent];
      if (info.space != space && info.space >= 0) above[info.space] = 1;
      parent = info.parent;
    }
  }
  return above;
}

/// The place in a sequence of `table` that the cell at `place` of `cells` is a member of; -1: the tables do not fit
/// each other.
int64_t member_of(const CellTable& cells, int64_t place, const CellTable& table) {
  if (table.per_sequence <= 0 || cells.per_sequence % table.per_sequence != 0 || table.phase != cells.phase) return -1;
  return place / (cells.per_sequence / table.per_sequence);
}

/// The decision for a row of its space's table; without choices if it did not get the row.
PathStep step_at(const StoredDecision& d, int64_t row) {
  if (!d.ancestor.empty())
    row = std::find(d.ancestor.begin(), d.ancestor.end(), static_cast<int32_t>(row)) - d.ancestor.begin();
  PathStep step;
  if (row >= d.cells) return step;
  const int64_t k = d.fan_out;
  step.choice.assign(d.choice.begin() + row * k, d.choice.begin() + (row + 1) * k);
  if (!d.weight.empty()) step.weight.assign(d.weight.begin() + row * k, d.weight.begin() + (row + 1) * k);
  return step;
}

}  // namespace

std::vector<BatchSummary> SessionReader::batches(int64_t run, BatchRange range) const {
  std::vector<BatchSummary> out;
  Statement find(
      state_->db,
      "SELECT id, latency_ms, first_sequence, sequences, guard_hits, guard_misses, part, items, server_step, rank FROM "
      "batch WHERE id >= ? AND id < ? ORDER BY id");
  range = range.within(kMostBatches);
  find.bind(1, batch_key(run, range.first)).bind(2, batch_key(run, range.end));
  while (find.step()) {
    BatchSummary b;
    b.number = find.integer(0) - batch_key(run, 0);
    b.latency_ms = find.real(1);
    b.listed = !find.null(7);
    if (b.listed) {
      const std::vector<int64_t> items = blob::read_numbers(find.blob(7), path());
      b.first_sequence = items.empty() ? 0 : *std::min_element(items.begin(), items.end());
      state_->check_count(b.first_sequence);
    } else {
      b.first_sequence = state_->count_of(find, 2);
    }
    b.sequences = static_cast<int32_t>(std::min<int64_t>(state_->count_of(find, 3), INT32_MAX));
    b.guard_hits = state_->count_of(find, 4);
    b.guard_misses = state_->count_of(find, 5);
    b.part = static_cast<uint8_t>(find.integer(6) & (kProfiled | kMeasured));
    if (!find.null(8)) b.server_step = state_->count_of(find, 8);
    if (!find.null(9)) b.rank = static_cast<int32_t>(std::min<int64_t>(state_->count_of(find, 9), INT32_MAX));
    out.push_back(b);
  }
  return out;
}

std::optional<ItemRange> SessionReader::sequences_of(int64_t run, BatchRange batches) const {
  Statement find(state_->db,
                 "SELECT first_sequence, sequences, items IS NULL FROM batch WHERE id >= ? AND id < ? ORDER BY id");
  batches = batches.within(kMostBatches);
  find.bind(1, batch_key(run, batches.first)).bind(2, batch_key(run, batches.end));
  std::optional<ItemRange> held;
  while (find.step()) {
    if (find.integer(2) == 0) return {};
    const int64_t begin = state_->count_of(find, 0), behind = begin + state_->count_of(find, 1);
    if (!held) held = {begin, behind};
    if (begin > held->end || behind < held->first) return {};
    held = {std::min(begin, held->first), std::max(behind, held->end)};
  }
  return held;
}

std::shared_ptr<const std::vector<int64_t>> SessionReader::State::items(int64_t run, int64_t batch) const {
  Statement find(db, "SELECT items FROM batch WHERE id = ?");
  find.bind(1, batch_key(run, batch));
  if (!find.step() || find.null(0)) return nullptr;
  auto items = std::make_shared<std::vector<int64_t>>(blob::read_numbers(find.blob(0), path));
  check_counts(*items);
  return items;
}

std::vector<BatchSpace> SessionReader::spaces(int64_t run, int64_t batch) const {
  std::vector<BatchSpace> out;
  if (!is_batch(batch)) return out;
  Statement find(state_->db,
                 "SELECT space, first_sequence, sequences, per_sequence, step, phase, real_cells, mask, tokens, "
                 "columns, starts FROM "
                 "batch_space WHERE id >= ? AND id < ?");
  const int64_t key = batch_key(run, batch);
  const auto items = state_->items(run, batch);
  find.bind(1, space_key(key, 0)).bind(2, space_key(key + 1, 0));
  while (find.step()) {
    BatchSpace s;
    s.space = static_cast<int32_t>(find.integer(0));
    const auto checked = [&](int64_t value) {
      if (value < 0 || value > INT32_MAX / 2) state_->damaged("the cells of a batch are out of range");
      return static_cast<int32_t>(value);
    };
    const auto small = [&](int column) { return checked(find.integer(column)); };
    s.cells.sequences = small(2);
    s.cells.per_sequence = small(3);
    s.cells.step = small(4);
    s.cells.columns = small(9);
    if (items && std::ssize(*items) != s.cells.sequences)
      state_->damaged("batch " + std::to_string(batch) + " lists " + counted(std::ssize(*items), "item") + " of " +
                      std::to_string(s.cells.sequences));
    s.items = items;
    if (items) s.cells.items = *items;
    if (!find.null(10)) {
      auto starts = std::make_shared<std::vector<int32_t>>();
      for (const int64_t start : blob::read_numbers(find.blob(10), path())) starts->push_back(checked(start));
      if (std::ssize(*starts) != s.cells.sequences || starts->empty() ||
          *std::min_element(starts->begin(), starts->end()) != s.cells.step)
        state_->damaged("batch " + std::to_string(batch) + " has other positions than its " +
                        counted(s.cells.sequences, "sequence"));
      s.starts = std::move(starts);
      s.cells.starts = *s.starts;
    }
    s.cells.first_sequence = items ? 0 : state_->count_of(find, 1);
    if (s.cells.cells() > blob::kMostCells) state_->damaged("the cells of a batch are out of range");
    s.cells.phase = static_cast<Phase>(std::clamp<int64_t>(find.integer(5), 0, 2));
    s.real_cells = find.integer(6);
    s.mask = blob::read_mask(find.blob(7), s.cells.cells(), s.cells.per_sequence, path());
    if (!find.null(8))
      for (const int64_t token : blob::read_numbers(find.blob(8), path()))
        s.tokens.push_back(static_cast<int32_t>(token));
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<Phase> SessionReader::phases(int64_t run) const {
  std::vector<Phase> out;
  Statement find(state_->db, "SELECT EXISTS(SELECT 1 FROM batch_space WHERE phase = ? AND id >= ? AND id < ?)");
  for (const Phase phase : {Phase::forward, Phase::prefill, Phase::decode}) {
    find.bind(1, static_cast<int64_t>(phase));
    find.bind(2, space_key(batch_key(run, 0), 0)).bind(3, space_key(batch_key(run + 1, 0), 0));
    if (find.step() && find.integer(0) != 0) out.push_back(phase);
    find.reset();
  }
  return out;
}

std::vector<SpaceOfBatch> SessionReader::batches_of_phase(int64_t run, Phase phase, BatchRange batches) const {
  std::vector<SpaceOfBatch> out;
  Statement find(state_->db, "SELECT id FROM batch_space WHERE phase = ? AND id >= ? AND id < ? ORDER BY id");
  batches = batches.within(kMostBatches);
  find.bind(1, static_cast<int64_t>(phase)).bind(2, space_key(batch_key(run, batches.first), 0));
  find.bind(3, space_key(batch_key(run, batches.end), 0));
  while (find.step())
    out.push_back(
        {find.integer(0) / kMostSpaces - batch_key(run, 0), static_cast<int32_t>(find.integer(0) % kMostSpaces)});
  return out;
}

bool SessionReader::has_decisions(int64_t run) const {
  Statement find(state_->db, "SELECT decisions FROM run WHERE id = ?");
  find.bind(1, run);
  return find.step() && find.integer(0) != 0;
}

std::optional<StoredDecision> SessionReader::decision(int64_t run, int32_t router, int64_t batch) const {
  const RouterInfo& info = state_->router(run, router);
  if (!is_batch(batch)) return std::nullopt;
  Statement find(state_->db, "SELECT data FROM decision WHERE id = ?");
  find.bind(1, decision_key(batch_key(run, batch), router));
  if (!find.step()) return std::nullopt;
  StoredDecision d =
      blob::read_decision(find.blob(0), path() + ": decision of " + info.name + " in batch " + std::to_string(batch));
  if (d.branches != info.branches || d.fan_out != info.fan_out)
    state_->damaged("a decision of " + info.name + " has " + counted(d.branches, "branch"));
  return d;
}

std::vector<PathStep> SessionReader::cell_path(int64_t run, int32_t space, const CellId& cell) const {
  std::vector<PathStep> path;
  const auto& routers = state_->layout(run).routers;
  const std::vector<uint8_t> above = spaces_above(state_->layout(run), space);
  for (const int64_t number : batches_with(run, {cell.sequence, cell.sequence + 1}, INT32_MAX)) {
    const std::vector<BatchSpace> tables = spaces(run, number);
    const auto own = std::find_if(tables.begin(), tables.end(), [&](const BatchSpace& s) { return s.space == space; });
    if (own == tables.end() || own->cells.phase != cell.phase || own->cells.per_sequence <= 0) continue;
    const int64_t line = own->cells.index_of(cell.sequence);
    if (line < 0) continue;
    const int64_t position = int64_t{cell.position} - own->cells.start(line);
    if (position < 0 || position >= own->cells.per_sequence) continue;
    for (size_t r = 0; r < routers.size(); ++r) {
      if (routers[r].space != space && (routers[r].space < 0 || !above[routers[r].space])) continue;
      const auto table =
          std::find_if(tables.begin(), tables.end(), [&](const BatchSpace& s) { return s.space == routers[r].space; });
      if (table == tables.end()) continue;
      const int64_t at = member_of(own->cells, position, table->cells), index = table->cells.index_of(cell.sequence);
      const auto d = at < 0 || index < 0 ? std::nullopt : decision(run, static_cast<int32_t>(r), number);
      if (!d) continue;
      PathStep step = step_at(*d, index * table->cells.per_sequence + at);
      if (step.choice.empty()) continue;
      step.batch = number;
      step.router = static_cast<int32_t>(r);
      step.position = static_cast<int32_t>(at) + table->cells.start(index);
      path.push_back(std::move(step));
    }
  }
  return path;
}

std::vector<StepEvent> SessionReader::events(int64_t run, int64_t batch) const {
  if (!is_batch(batch)) return {};
  Statement find(state_->db, "SELECT data FROM event WHERE batch = ?");
  find.bind(1, batch_key(run, batch));
  return find.step() ? blob::read_events(find.blob(0), path()) : std::vector<StepEvent>();
}

std::vector<GuardTotal> SessionReader::guards(int64_t run) const {
  std::vector<GuardTotal> out;
  Statement find(state_->db, "SELECT step, hits, misses FROM guard WHERE run = ? ORDER BY step");
  for (find.bind(1, run); find.step();)
    out.push_back({static_cast<int32_t>(find.integer(0)), state_->count_of(find, 1), state_->count_of(find, 2)});
  return out;
}

}  // namespace stormcell
