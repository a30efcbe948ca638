// Loads: the pyramid of windows, whole runs, by label and by token.
#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/profile/statistics.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

std::vector<PyramidLevel> SessionReader::levels(int64_t run) const {
  const int64_t batches = state_->batches(run);
  std::vector<PyramidLevel> levels;
  for (int32_t level = 0; level <= coarsest_level(batches); ++level)
    levels.push_back({level, int64_t{1} << (kWindowBits * level), window_count(batches, level)});
  return levels;
}

// A window that is not there, because its run is still going or was killed, is the sum of its four children.
std::optional<RouterLoads> SessionReader::State::window(Statement& find, int64_t run, int32_t router, int32_t level,
                                                        int64_t number, int64_t batches) const {
  find.bind(1, router_key(run, router)).bind(2, int64_t{level}).bind(3, number);
  std::optional<RouterLoads> loads;
  if (find.step()) {
    loads = blob::read_loads(find.blob(2), this->router(run, router).branches, path);
    loads->batches = count_of(find, 0);
    loads->cells = count_of(find, 1);
  }
  find.reset();
  if (loads || level == 0) return loads;
  for (int64_t child = number << kWindowBits; child < (number + 1) << kWindowBits; ++child) {
    if (child << (kWindowBits * (level - 1)) >= batches) break;
    const auto part = window(find, run, router, level - 1, child, batches);
    if (!part) continue;
    if (!loads) loads = RouterLoads(part->branches());
    add(*part, *loads);
  }
  return loads;
}

std::vector<RouterLoads> SessionReader::loads(int64_t run, int32_t router, int32_t level, WindowRange windows) const {
  const int32_t branches = state_->router(run, router).branches;
  const int64_t batches = state_->batches(run);
  if (level < 0 || level > coarsest_level(batches))
    bad_input(path(), "run #" + std::to_string(run) + " has no level " + std::to_string(level));
  const auto [first, end] = windows.within(window_count(batches, level));
  std::vector<RouterLoads> out;
  if (first >= end) return out;
  // A window that is stored takes at least a byte for each branch, and most are.
  constexpr int64_t kMostMissing = 16;
  if ((end - first) * branches > kMostStoredBranches + kMostMissing * state_->file_bytes())
    state_->damaged("it is too short for its windows");
  out.reserve(end - first);
  // Reads one range, then the few windows missing at the end of an unfinished run.
  std::vector<bool> found(end - first);
  out.assign(found.size(), RouterLoads(branches));
  Statement scan(state_->db,
                 "SELECT number, batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number >= ? "
                 "AND number < ?");
  scan.bind(1, router_key(run, router)).bind(2, int64_t{level}).bind(3, first).bind(4, end);
  while (scan.step()) {
    const size_t at = scan.integer(0) - first;
    out[at] = blob::read_loads(scan.blob(3), branches, path());
    out[at].batches = state_->count_of(scan, 1);
    out[at].cells = state_->count_of(scan, 2);
    found[at] = true;
  }
  if (level == 0) return out;
  Statement find(state_->db,
                 "SELECT batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number = ?");
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      if (auto sum = state_->window(find, run, router, level, first + static_cast<int64_t>(i), batches))
        out[i] = std::move(*sum);
  return out;
}

RouterLoads SessionReader::total_loads(int64_t run, int32_t router) const {
  const int32_t branches = state_->router(run, router).branches;
  Statement find(state_->db, "SELECT batches, cells, total FROM router WHERE id = ?");
  find.bind(1, router_key(run, router));
  if (find.step() && !find.null(2)) {
    RouterLoads total = blob::read_loads(find.blob(2), branches, path());
    total.batches = state_->count_of(find, 0);
    total.cells = state_->count_of(find, 1);
    return total;
  }
  RouterLoads total(branches);
  for (const RouterLoads& window : loads(run, router, coarsest_level(state_->batches(run)), {0, kMostCoarseWindows}))
    state_->add(window, total);
  return total;
}

std::vector<LabelLoads> SessionReader::label_loads(int64_t run, int32_t router) const {
  state_->router(run, router);
  std::vector<LabelLoads> out;
  Statement find(state_->db, "SELECT label, cells, load FROM label_load WHERE router = ? ORDER BY label");
  for (find.bind(1, router_key(run, router)); find.step();)
    out.push_back({std::string(find.text(0)), state_->count_of(find, 1), blob::read_numbers(find.blob(2), path())});
  for (const LabelLoads& l : out) state_->check_loads(l.load, run, router);
  return out;
}

std::vector<TokenLoads> SessionReader::token_loads(int64_t run, int32_t router, int64_t most) const {
  state_->router(run, router);
  std::vector<TokenLoads> out;
  Statement find(state_->db,
                 "SELECT token, cells, load FROM token_load WHERE router = ? ORDER BY cells DESC, token LIMIT ?");
  for (find.bind(1, router_key(run, router)).bind(2, most); find.step();) {
    out.push_back(
        {static_cast<int32_t>(find.integer(0)), state_->count_of(find, 1), blob::read_numbers(find.blob(2), path())});
    state_->check_loads(out.back().load, run, router);
  }
  return out;
}

}  // namespace stormcell
