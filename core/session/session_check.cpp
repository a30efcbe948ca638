// A session read from end to end. Opening reads kilobytes, so damage in the middle is met only where somebody looks.
#include <sqlite3.h>

#include <algorithm>

#include "core/session/session_reader_state.h"

namespace stormcell {
namespace {

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

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

SessionReader::Checked SessionReader::check(const Progress& progress) const {
  State& s = *state_;
  Checked seen;
  seen.pages = s.db.number("PRAGMA page_count");
  progress.report("checking every page", 0, 0);
  try {
    const Stoppable stoppable(s.db.handle(), progress);
    sqlite::Statement find(s.db, "PRAGMA integrity_check(1)");
    if (find.step() && find.text(0) != "ok") s.damaged(first_line(find.text(0)));
  } catch (const Error&) {
    progress.cancel.check();
    throw;
  }
  for (const RunSummary& run : runs()) {
    ++seen.runs;
    const RunLayout& layout = s.layout(run.id);
    const bool decisions = has_decisions(run.id);
    std::vector<std::vector<int64_t>> loads(layout.routers.size());
    for (size_t r = 0; r < loads.size(); ++r) loads[r].resize(static_cast<size_t>(layout.routers[r].branches));
    for (int64_t b = 0; b < run.batches; ++b) {
      progress.report("checking records", b, run.batches);
      seen.batches += static_cast<int64_t>(batches(run.id, b, 1).size());
      spaces(run.id, b);
      events(run.id, b);
      for (size_t r = 0; decisions && r < loads.size(); ++r) {
        const std::optional<StoredDecision> d = decision(run.id, static_cast<int32_t>(r), b);
        if (!d) continue;
        ++seen.decisions;
        for (size_t i = 0; i < loads[r].size(); ++i) loads[r][i] += d->offsets[i + 1] - d->offsets[i];
      }
    }
    guards(run.id);
    for (int64_t first = 0, all = sequences(run.id); first < all; first += 1024) {
      progress.report("checking inputs", first, all);
      inputs(run.id, first, 1024);
    }
    for (size_t r = 0; r < loads.size(); ++r) {
      progress.report("checking sums", static_cast<int64_t>(r), static_cast<int64_t>(loads.size()));
      const auto router = static_cast<int32_t>(r);
      const RouterLoads total = total_loads(run.id, router);
      if (decisions && run.status == RunStatus::finished && total.load != loads[r])
        s.damaged("the loads of router " + layout.routers[r].name + " of run #" + std::to_string(run.id) +
                  " are not those of its decisions");
      label_loads(run.id, router);
      token_loads(run.id, router, 1);
      coactivation(run.id, router, 0, run.batches);
    }
    for (const LayoutEdge& edge : layout.edges) transitions(run.id, edge.from, edge.to, 0, run.batches);
  }
  return seen;
}

}  // namespace stormcell
