// Reads a session from end to end. Opening reads only kilobytes, so it does not see damage in the middle.
#include <sqlite3.h>

#include <algorithm>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/session/check_run.h"

namespace stormcell {
namespace {

using sqlite::Statement;

/// SQLite asks it every few thousand steps: a check of gigabytes can be stopped.
class Stoppable {
 public:
  Stoppable(sqlite3* db, const Progress& progress) : db_(db) {
    const auto stop = [](void* p) { return static_cast<int>(static_cast<const Progress*>(p)->cancel.cancelled()); };
    sqlite3_progress_handler(db_, 4096, stop, const_cast<Progress*>(&progress));
  }
  ~Stoppable() { sqlite3_progress_handler(db_, 0, nullptr, nullptr); }
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  sqlite3* db_;
};

/// The table whose pages do not fit together, as far as it can be found.
std::string broken_table(sqlite::Database& db) {
  std::vector<std::string> tables;
  Statement list(db, "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name");
  while (list.step()) tables.emplace_back(list.text(0));
  for (const std::string& table : tables) {
    Statement find(db, ("PRAGMA main.integrity_check(\"" + table + "\")").c_str());
    if (find.step() && find.text(0) != "ok") return "table " + table + " cannot be read whole";
  }
  return "its pages do not fit each other";
}

void check_pages(const SessionReader::State& s, const Progress& progress) {
  progress.report("checking every page", 0, 0);
  try {
    const Stoppable stoppable(s.db.handle(), progress);
    Statement find(s.db, "PRAGMA main.integrity_check(1)");
    if (find.step() && find.text(0) != "ok") s.damaged(broken_table(s.db));
  } catch (const Error&) {
    progress.cancel.check();
    throw;
  }
}

/// `listed`: items that the batches list.
void check_inputs(const CheckedRun& run, int64_t listed, const Progress& progress) {
  Statement items(run.state.db, "SELECT count(*) FROM batch_item WHERE run = ?");
  items.bind(1, run.summary.id);
  if (items.step() && items.integer(0) != listed)
    run.damaged("batch_item has " + counted(items.integer(0), "row") + ", the batches list " + counted(listed, "item"));
  const int64_t all = run.reader.sequences(run.summary.id);
  Statement input(run.state.db, "SELECT number, label, text FROM sequence WHERE run = ? ORDER BY number");
  int64_t read = 0;
  for (input.bind(1, run.summary.id); input.step(); ++read) {
    if (read % 1024 == 0) progress.report("checking inputs", read, 0);
    if (input.integer(0) >= all)
      run.damaged("an input has the number " + std::to_string(input.integer(0)) + ", the batches hold " +
                  std::to_string(all));
  }
  Statement picture(run.state.db, "SELECT max(item) FROM picture WHERE run = ?");
  picture.bind(1, run.summary.id);
  if (picture.step() && !picture.null(0) && picture.integer(0) >= all)
    run.damaged("a picture is of item " + std::to_string(picture.integer(0)) + ", the batches hold " +
                std::to_string(all));
}

void check_run(const CheckedRun& run, const Progress& progress, SessionReader::Checked& seen) {
  LoadsCheck loads(run);
  KeyedLoadsCheck keyed(run);
  TotalRowsCheck rows(run);
  const int32_t routers = run.layout.routers.size();
  int64_t listed = 0;
  for (int64_t b = 0; b < run.summary.batches; ++b) {
    progress.report("checking records", b, run.summary.batches);
    const std::optional<CheckedBatch> batch = check_batch(run, b);
    if (!batch) continue;
    ++seen.batches;
    if (!batch->spaces.empty() && batch->spaces[0].items)
      listed += std::ssize(std::set(batch->spaces[0].items->begin(), batch->spaces[0].items->end()));
    for (int32_t r = 0; r < routers; ++r) {
      const std::optional<StoredDecision> decision =
          run.decisions ? run.reader.decision(run.summary.id, r, b) : std::nullopt;
      if (decision) check_rows_of(run, *decision, r, *batch);
      loads.batch(*batch, r, decision ? &*decision : nullptr);
      if (!decision) continue;
      ++seen.decisions;
      keyed.batch(*batch, r, *decision);
      rows.batch(*batch, r, *decision);
    }
  }
  loads.finish();
  keyed.finish(loads);
  rows.finish(loads);
  check_guards(run);
  check_pairs(run, progress);
  if (!run.is_running) check_inputs(run, listed, progress);
}

}  // namespace

CheckedRun::CheckedRun(const SessionReader& reader_, const SessionReader::State& state_, const RunSummary& run)
    : reader(reader_), state(state_), summary(run), layout(state_.layout(run.id)) {
  Statement find(state.db, "SELECT decisions, inputs, counted_through FROM run WHERE id = ?");
  find.bind(1, run.id);
  if (!find.step()) damaged("it is gone");
  decisions = find.integer(0) != 0, inputs = find.integer(1) != 0, counted_through = find.integer(2);
  is_running = run.status == RunStatus::running, has_ended = !is_running && !run.finished.empty();
}

void CheckedRun::damaged(const std::string& what) const {
  state.damaged("in run #" + std::to_string(summary.id) + " " + what);
}

bool SessionReader::check_if_small(const Progress& progress) const {
  constexpr int64_t kMost = int64_t{64} << 20;
  if (state_->file_bytes() > kMost) return false;
  for (const RunSummary& run : runs())
    if (run.status == RunStatus::running) return false;
  check(progress);
  return true;
}

SessionReader::Checked SessionReader::check(const Progress& progress) const {
  Checked seen;
  seen.pages = state_->db.number("PRAGMA page_count");
  check_pages(*state_, progress);
  check_tables(*state_, progress);
  for (const RunSummary& run : runs()) {
    ++seen.runs;
    check_run(CheckedRun(*this, *state_, run), progress, seen);
  }
  return seen;
}

}  // namespace stormcell
