#include "core/session/session_reader.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/profile/accumulator.h"
#include "core/profile/statistics.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/sqlite.h"

namespace stormcell {
namespace {

using sqlite::Statement;

RunStatus status_of(std::string_view text, std::string_view writer) {
  for (const RunStatus s : {RunStatus::finished, RunStatus::interrupted, RunStatus::failed})
    if (text == to_text(s)) return s;
  return is_alive(std::string(writer)) ? RunStatus::running : RunStatus::interrupted;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What damaged or hostile numbers must stay below, so that one row cannot ask for all memory.
constexpr int32_t kMostBranches = 1 << 22, kMostChoices = 64;

bool is_batch(int64_t number) { return number >= 0 && number < kMostBatches; }

constexpr const char* kRunColumns = "id, kind, name, config, machine, dataset, summary, started, finished, status, writer";

}  // namespace

SessionPath parse_session_path(std::string_view text) {
  const size_t hash = text.rfind('#');
  std::error_code ignored;
  if (hash == std::string_view::npos || std::filesystem::exists(text, ignored)) return {std::string(text), {}};
  return {std::string(text.substr(0, hash)), std::string(text.substr(hash + 1))};
}

struct SessionReader::State {
  mutable sqlite::Database db;
  std::string path;
  SessionSummary summary;
  mutable std::map<int64_t, RunLayout> layouts;

  const RunLayout& layout(int64_t run) const;
  const RouterInfo& router(int64_t run, int32_t router) const {
    const auto& routers = layout(run).routers;
    if (router < 0 || static_cast<size_t>(router) >= routers.size())
      bad_input(path, "run #" + std::to_string(run) + " has no router " + std::to_string(router));
    return routers[static_cast<size_t>(router)];
  }
  RunSummary run_of(const Statement& row) const;
  [[noreturn]] void damaged(const std::string& what) const { bad_input(path, "the file is damaged: " + what); }
  int64_t count_of(const Statement& row, int column) const {
    const int64_t count = row.integer(column);
    check_count(count);
    return count;
  }
  void check_count(int64_t count) const {
    if (count < 0 || count > blob::kMostCount) damaged("a count is out of range");
  }
  void check_counts(const std::vector<int64_t>& counts) const {
    for (const int64_t count : counts) check_count(count);
  }
  void check_loads(const std::vector<int64_t>& loads, int64_t run, int32_t router) const {
    check_counts(loads);
    if (loads.size() != static_cast<size_t>(this->router(run, router).branches)) damaged("loads are not those of their router");
  }
  /// Adds and looks at every sum, so that the next one cannot overflow.
  void add(const RouterLoads& part, RouterLoads& sum) const {
    sum.add(part);
    check_count(sum.batches);
    check_count(sum.cells);
    for (const auto* counts : {&sum.load, &sum.padding, &sum.dropped, &sum.padded}) check_counts(*counts);
  }
  void add(const PairTable& part, PairTable& sum) const {
    sum.add(part);
    for (const PairCount& pair : sum.entries) check_count(pair.count);
  }
  int64_t file_bytes() const { return db.number("PRAGMA page_count") * db.number("PRAGMA page_size"); }
  int64_t batches(int64_t run) const {
    Statement last(db, "SELECT id FROM batch WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1");
    last.bind(1, batch_key(run, 0)).bind(2, batch_key(run + 1, 0) - 1);
    if (!last.step()) return 0;
    constexpr int64_t kLeastBytes = 16;  // of a batch: one alone with a high number must not make anyone count to it
    const int64_t batches = last.integer(0) - batch_key(run, 0) + 1;
    if (batches > file_bytes() / kLeastBytes) damaged("a batch has the number " + std::to_string(batches - 1));
    return batches;
  }
  std::optional<RouterLoads> window(Statement& find, int64_t run, int32_t router, int32_t level, int64_t number, int64_t batches) const;
  PairTable pairs(PairKind kind, int64_t run, int32_t router, int64_t first, int64_t count) const;
};

const RunLayout& SessionReader::State::layout(int64_t run) const {
  const auto known = layouts.find(run);
  if (known != layouts.end()) return known->second;
  RunLayout layout;
  Statement space(db, "SELECT name FROM space WHERE run = ? ORDER BY ordinal");
  for (space.bind(1, run); space.step();) layout.spaces.emplace_back(space.text(0));
  // Columns of the second schema; reading does not bring an older file up to date.
  const std::string more = summary.schema >= 2 ? "ifnull(layer, -1), ifnull(branch_bytes, 0), ifnull(dense_bytes, 0)" : "-1, 0, 0";
  const std::string routers =
      "SELECT name, branches, fan_out, protocol, space, stack, parent, parent_branch, " + more + " FROM router WHERE id BETWEEN ? AND ? ORDER BY id";
  Statement router(db, routers.c_str());
  const auto at_least_one = [&](const Statement& row, int column, int64_t most) {
    const int64_t value = row.integer(column);
    if (value < 1 || value > most) damaged("a router of run #" + std::to_string(run) + " has the size " + std::to_string(value));
    return static_cast<int32_t>(value);
  };
  const auto index = [&](const Statement& row, int column, size_t size) {
    const int64_t value = row.integer(column);
    if (value < -1 || value >= static_cast<int64_t>(size)) damaged("a router of run #" + std::to_string(run) + " refers to nothing");
    return static_cast<int32_t>(value);
  };
  for (router.bind(1, router_key(run, 0)).bind(2, router_key(run + 1, 0) - 1); router.step();) {
    RouterInfo r;
    r.name = router.text(0);
    r.branches = at_least_one(router, 1, kMostBranches);
    r.fan_out = at_least_one(router, 2, std::max(r.branches, kMostChoices));
    r.protocol = router.text(3);
    r.space = index(router, 4, layout.spaces.size());
    r.stack = router.text(5);
    r.parent = index(router, 6, static_cast<size_t>(kMostRouters));
    r.parent_branch = static_cast<int32_t>(router.integer(7));
    r.layer = static_cast<int32_t>(std::clamp<int64_t>(router.integer(8), -1, INT32_MAX));
    r.branch_bytes = std::max<int64_t>(router.integer(9), 0);
    r.dense_bytes = std::max<int64_t>(router.integer(10), 0);
    layout.routers.push_back(std::move(r));
  }
  for (const RouterInfo& r : layout.routers)
    if (r.parent >= static_cast<int32_t>(layout.routers.size())) damaged("a router of run #" + std::to_string(run) + " refers to nothing");
  Statement step(db, "SELECT name, op, router, branch, flops, bytes FROM step WHERE run = ? ORDER BY ordinal");
  for (step.bind(1, run); step.step();)
    layout.steps.push_back({std::string(step.text(0)), std::string(step.text(1)), static_cast<int32_t>(step.integer(2)),
                            static_cast<int32_t>(step.integer(3)), step.real(4), step.real(5)});
  return layouts.emplace(run, std::move(layout)).first->second;
}

RunSummary SessionReader::State::run_of(const Statement& row) const {
  RunSummary r;
  r.id = row.integer(0);
  if (r.id < 1 || r.id >= kMostRuns) damaged("a run has the number " + std::to_string(r.id));
  std::string* texts[] = {&r.kind, &r.name, &r.config, &r.machine, &r.dataset, &r.summary, &r.started, &r.finished};
  for (int i = 0; i < 8; ++i) *texts[i] = row.text(i + 1);
  r.status = status_of(row.text(9), row.text(10));
  r.batches = batches(r.id);
  return r;
}

SessionReader::SessionReader(const std::string& path) : state_(std::make_unique<State>()) {
  may_block("SessionReader");
  State& s = *state_;
  s.path = path;
  switch (look_at(path)) {
    case FileState::missing: bad_input(path, "no such file");
    case FileState::empty: bad_input(path, "is empty, not a session");
    case FileState::something: break;
  }
  s.db = sqlite::open_to_read(path);
  check_session(s.db);
  Statement meta(s.db, "SELECT key, value FROM meta");
  while (meta.step()) {
    if (meta.text(0) == "id") s.summary.id = meta.text(1);
    if (meta.text(0) == "created") s.summary.created = meta.text(1);
    if (meta.text(0) == "program") s.summary.program = meta.text(1);
  }
  s.summary.schema = static_cast<int32_t>(s.db.number("PRAGMA user_version"));
  Statement model(s.db, "SELECT fingerprint, name, family, json FROM model LIMIT 1");
  if (model.step())
    s.summary.model = {std::string(model.text(0)), std::string(model.text(1)), std::string(model.text(2)), std::string(model.text(3))};
}

// A session that was left in WAL mode becomes one plain file when its last reader closes it, unless its writer lives.
SessionReader::~SessionReader() {
  if (!state_ || !state_->db.handle()) return;
  try {
    State& s = *state_;
    if (s.db.text("PRAGMA journal_mode") != "wal" || sqlite3_db_readonly(s.db.handle(), "main") != 0) return;
    Statement running(s.db, "SELECT writer FROM run WHERE status = 'running'");
    while (running.step())
      if (is_alive(std::string(running.text(0)))) return;
    running = Statement();
    sqlite3_busy_timeout(s.db.handle(), 0);
    s.db.execute("PRAGMA query_only=0");
    s.db.text("PRAGMA journal_mode=DELETE");
  } catch (const std::exception&) {  // another reader has it: that one will do it
  }
}
SessionReader::SessionReader(SessionReader&&) noexcept = default;
SessionReader& SessionReader::operator=(SessionReader&&) noexcept = default;

const SessionSummary& SessionReader::summary() const { return state_->summary; }
const std::string& SessionReader::path() const { return state_->path; }

std::vector<RunSummary> SessionReader::runs() const {
  std::vector<RunSummary> runs;
  Statement find(state_->db, (std::string("SELECT ") + kRunColumns + " FROM run ORDER BY id").c_str());
  while (find.step()) runs.push_back(state_->run_of(find));
  return runs;
}

RunSummary SessionReader::run(int64_t id) const {
  Statement find(state_->db, (std::string("SELECT ") + kRunColumns + " FROM run WHERE id = ?").c_str());
  find.bind(1, id);
  if (!find.step()) bad_input(path(), "there is no run #" + std::to_string(id));
  return state_->run_of(find);
}

RunSummary SessionReader::find_run(std::string_view selector) const {
  Statement find(state_->db, "SELECT id, name, kind FROM run ORDER BY id DESC");
  const auto number = whole_number(selector);
  std::string known;
  while (find.step()) {
    if (selector.empty() || number == find.integer(0) || selector == find.text(1)) return run(find.integer(0));
    if (known.size() < 200) known += (known.empty() ? "#" : ", #") + std::to_string(find.integer(0)) + " " + std::string(find.text(1).empty() ? find.text(2) : find.text(1));
  }
  if (known.empty()) bad_input(path(), "holds no run yet");
  bad_input(path(), "there is no run \"" + std::string(selector) + "\"", "it holds " + known);
}

RunLayout SessionReader::layout(int64_t run) const { return state_->layout(run); }

std::vector<PyramidLevel> SessionReader::levels(int64_t run) const {
  const int64_t batches = state_->batches(run);
  std::vector<PyramidLevel> levels;
  for (int32_t level = 0; level <= coarsest_level(batches); ++level)
    levels.push_back({level, int64_t{1} << (kWindowBits * level), window_count(batches, level)});
  return levels;
}

// A window that is not there, because its run is still going or was killed, is the sum of its four children.
std::optional<RouterLoads> SessionReader::State::window(Statement& find, int64_t run, int32_t router, int32_t level, int64_t number,
                                                        int64_t batches) const {
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

std::vector<RouterLoads> SessionReader::loads(int64_t run, int32_t router, int32_t level, int64_t first, int64_t count) const {
  const int32_t branches = state_->router(run, router).branches;
  const int64_t batches = state_->batches(run);
  if (level < 0 || level > coarsest_level(batches)) bad_input(path(), "run #" + std::to_string(run) + " has no level " + std::to_string(level));
  first = std::max<int64_t>(first, 0);
  const int64_t end = first + std::clamp<int64_t>(count, 0, std::max<int64_t>(window_count(batches, level) - first, 0));
  std::vector<RouterLoads> out;
  if (first >= end) return out;
  // A window that is stored takes at least a byte for each branch, and most are.
  constexpr int64_t kMostMissing = 16;
  if ((end - first) * branches > kMostBranches + kMostMissing * state_->file_bytes()) state_->damaged("it is too short for its windows");
  out.reserve(static_cast<size_t>(end - first));
  // One range scan, then the few that are missing at the end of an unfinished run.
  std::vector<bool> found(static_cast<size_t>(end - first));
  out.assign(found.size(), RouterLoads(branches));
  Statement scan(state_->db, "SELECT number, batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number >= ? AND number < ?");
  scan.bind(1, router_key(run, router)).bind(2, int64_t{level}).bind(3, first).bind(4, end);
  while (scan.step()) {
    const auto at = static_cast<size_t>(scan.integer(0) - first);
    out[at] = blob::read_loads(scan.blob(3), branches, path());
    out[at].batches = state_->count_of(scan, 1);
    out[at].cells = state_->count_of(scan, 2);
    found[at] = true;
  }
  if (level == 0) return out;
  Statement find(state_->db, "SELECT batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number = ?");
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      if (auto sum = state_->window(find, run, router, level, first + static_cast<int64_t>(i), batches)) out[i] = std::move(*sum);
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
  for (const RouterLoads& window : loads(run, router, coarsest_level(state_->batches(run)), 0, kMostCoarseWindows))
    state_->add(window, total);
  return total;
}

std::vector<BatchSummary> SessionReader::batches(int64_t run, int64_t first, int64_t count) const {
  std::vector<BatchSummary> out;
  Statement find(
      state_->db,
      "SELECT id, latency_ms, first_sequence, sequences, guard_hits, guard_misses FROM batch WHERE id >= ? AND id < ? ORDER BY id");
  first = std::clamp<int64_t>(first, 0, kMostBatches);
  find.bind(1, batch_key(run, first)).bind(2, batch_key(run, first + std::clamp<int64_t>(count, 0, kMostBatches - first)));
  while (find.step())
    out.push_back({find.integer(0) - batch_key(run, 0), find.real(1), state_->count_of(find, 2),
                   static_cast<int32_t>(std::min<int64_t>(state_->count_of(find, 3), INT32_MAX)), state_->count_of(find, 4),
                   state_->count_of(find, 5)});
  return out;
}

std::vector<BatchSpace> SessionReader::spaces(int64_t run, int64_t batch) const {
  std::vector<BatchSpace> out;
  if (!is_batch(batch)) return out;
  Statement find(state_->db,
                 "SELECT space, first_sequence, sequences, per_sequence, step, phase, real_cells, mask, tokens FROM batch_space WHERE id >= ? AND id < ?");
  const int64_t key = batch_key(run, batch);
  find.bind(1, space_key(key, 0)).bind(2, space_key(key + 1, 0));
  while (find.step()) {
    BatchSpace s;
    s.space = static_cast<int32_t>(find.integer(0));
    s.cells.first_sequence = state_->count_of(find, 1);
    const auto small = [&](int column) {
      const int64_t value = find.integer(column);
      if (value < 0 || value > INT32_MAX / 2) state_->damaged("the cells of a batch are out of range");
      return static_cast<int32_t>(value);
    };
    s.cells.sequences = small(2);
    s.cells.per_sequence = small(3);
    s.cells.step = small(4);
    if (s.cells.cells() > blob::kMostCells) state_->damaged("the cells of a batch are out of range");
    s.cells.phase = static_cast<Phase>(std::clamp<int64_t>(find.integer(5), 0, 2));
    s.real_cells = find.integer(6);
    s.mask = blob::read_mask(find.blob(7), s.cells.cells(), s.cells.per_sequence, path());
    if (!find.null(8))
      for (const int64_t token : blob::read_numbers(find.blob(8), path())) s.tokens.push_back(static_cast<int32_t>(token));
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<Phase> SessionReader::phases(int64_t run) const {
  std::vector<Phase> out;
  Statement find(state_->db, "SELECT DISTINCT phase FROM batch_space WHERE id >= ? AND id < ? ORDER BY phase");
  find.bind(1, space_key(batch_key(run, 0), 0)).bind(2, space_key(batch_key(run + 1, 0), 0));
  while (find.step()) out.push_back(static_cast<Phase>(std::clamp<int64_t>(find.integer(0), 0, 2)));
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
  StoredDecision d = blob::read_decision(find.blob(0), path() + ": decision of " + info.name + " in batch " + std::to_string(batch));
  if (d.branches != info.branches || d.fan_out != info.fan_out)
    state_->damaged("a decision of " + info.name + " has " + std::to_string(d.branches) + " branches");
  return d;
}

std::vector<PathStep> SessionReader::cell_path(int64_t run, int32_t space, const CellId& cell) const {
  std::vector<PathStep> path;
  // The batches of a sequence share its batch's first sequence: one in a forward pass, one a step in decoding.
  Statement find(state_->db,
                 "SELECT id, number FROM batch WHERE run = ?1 AND first_sequence = (SELECT max(first_sequence) FROM batch WHERE run = ?1 AND "
                 "first_sequence <= ?2) ORDER BY id");
  find.bind(1, run).bind(2, cell.sequence);
  const auto& routers = state_->layout(run).routers;
  while (find.step()) {
    const int64_t number = find.integer(1);
    for (const BatchSpace& s : spaces(run, number)) {
      if (s.space != space || s.cells.phase != cell.phase || s.cells.per_sequence <= 0) continue;
      const int64_t position = int64_t{cell.position} - s.cells.step;
      const int64_t row = (cell.sequence - s.cells.first_sequence) * s.cells.per_sequence + position;
      if (position < 0 || position >= s.cells.per_sequence || row < 0 || row >= s.cells.cells()) continue;
      for (size_t r = 0; r < routers.size(); ++r) {
        if (routers[r].space != space) continue;
        const auto d = decision(run, static_cast<int32_t>(r), number);
        if (!d) continue;
        int64_t at = row;
        if (!d->ancestor.empty()) at = std::find(d->ancestor.begin(), d->ancestor.end(), static_cast<int32_t>(row)) - d->ancestor.begin();
        if (at >= d->cells) continue;
        const int64_t k = d->fan_out;
        PathStep step{number, static_cast<int32_t>(r), {d->choice.begin() + at * k, d->choice.begin() + (at + 1) * k}, {}};
        if (!d->weight.empty()) step.weight.assign(d->weight.begin() + at * k, d->weight.begin() + (at + 1) * k);
        path.push_back(std::move(step));
      }
    }
  }
  return path;
}

int32_t SessionReader::next_router(int64_t run, int32_t router) const {
  const auto previous = previous_routers(state_->layout(run));
  const auto next = std::find(previous.begin(), previous.end(), router);
  return next == previous.end() ? -1 : static_cast<int32_t>(next - previous.begin());
}

PairTable SessionReader::transitions(int64_t run, int32_t router, int64_t first, int64_t count) const {
  state_->router(run, router);
  return next_router(run, router) < 0 ? PairTable{} : state_->pairs(PairKind::transition, run, router, first, count);
}
PairTable SessionReader::coactivation(int64_t run, int32_t router, int64_t first, int64_t count) const {
  return state_->router(run, router).fan_out < 2 ? PairTable{} : state_->pairs(PairKind::coactivation, run, router, first, count);
}

// The range is cut into the largest windows that are stored; what no window covers is counted again from the decisions.
PairTable SessionReader::State::pairs(PairKind kind, int64_t run, int32_t router, int64_t first, int64_t count) const {
  const auto previous = previous_routers(layout(run));
  const int32_t to = kind == PairKind::coactivation
                         ? router
                         : static_cast<int32_t>(std::find(previous.begin(), previous.end(), router) - previous.begin());
  const RouterInfo &from_info = this->router(run, router), &to_info = this->router(run, to);
  const int64_t all = batches(run);
  first = std::clamp<int64_t>(first, 0, all);
  const int64_t end = first + std::clamp<int64_t>(count, 0, all - first);
  PairTable sum{from_info.branches, to_info.branches, {}};
  PairCounter counter(from_info.branches, to_info.branches);
  std::vector<int32_t> scratch;
  Statement range(db, "SELECT min(level), max(level) FROM pair_window WHERE router = ? AND kind = ?");
  range.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind));
  range.step();
  const bool stored = !range.null(0);
  const auto level_of = [&](int column) { return static_cast<int32_t>(std::clamp<int64_t>(range.integer(column), 0, 15)); };
  const int32_t finest = level_of(0), coarsest = level_of(1);
  Statement find(db, "SELECT data FROM pair_window WHERE router = ? AND kind = ? AND level = ? AND number = ?");
  const auto mask_of = [&](int64_t batch) {
    Statement space(db, "SELECT sequences * per_sequence, per_sequence, mask FROM batch_space WHERE id = ?");
    space.bind(1, space_key(batch_key(run, batch), to_info.space));
    return space.step() ? blob::read_mask(space.blob(2), space.integer(0), space.integer(1), path) : std::vector<uint8_t>();
  };
  const auto decision_of = [&](int32_t r, int64_t batch) -> std::optional<StoredDecision> {
    Statement one(db, "SELECT data FROM decision WHERE id = ?");
    one.bind(1, decision_key(batch_key(run, batch), r));
    if (!one.step()) return std::nullopt;
    return blob::read_decision(one.blob(0), path);
  };
  for (int64_t at = first; at < end;) {
    bool taken = false;
    for (int32_t level = coarsest; stored && level >= finest && !taken; --level) {
      const int64_t size = int64_t{1} << (kWindowBits * level);
      if (at % size != 0 || (at + size > end && end < all)) continue;
      find.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind)).bind(3, int64_t{level}).bind(4, window_of(at, level));
      if (find.step()) {
        PairTable part = blob::read_pairs(find.blob(0), path);
        if (part.rows != sum.rows || part.columns != sum.columns) damaged("a table of pairs has the wrong size");
        add(part, sum);
        at += size;
        taken = true;
      }
      find.reset();
    }
    if (taken) continue;
    const auto to_decision = decision_of(to, at);
    const auto from_decision = kind == PairKind::coactivation ? std::nullopt : decision_of(router, at);
    if (to_decision && (from_decision || kind == PairKind::coactivation)) {
      const auto fits = [](const StoredDecision& d, const RouterInfo& info) {
        return d.branches == info.branches && d.fan_out == info.fan_out;
      };
      if (!fits(*to_decision, to_info) || (from_decision && !fits(*from_decision, from_info)))
        damaged("a decision has the wrong number of branches");
      const auto mask = mask_of(at);
      const auto rows = [&](const StoredDecision& d) {
        int64_t most = d.ancestor.empty() ? d.cells : 0;
        for (const int32_t row : d.ancestor) most = std::max<int64_t>(most, int64_t{row} + 1);
        return most;
      };
      const int64_t needed = std::max(rows(*to_decision), from_decision ? rows(*from_decision) : 0);
      if (!mask.empty() && needed > static_cast<int64_t>(mask.size())) damaged("a mask is too short");
      if (from_decision)
        add_transitions({from_decision->record(router), from_decision->fan_out}, {to_decision->record(to), to_decision->fan_out}, mask, scratch, counter);
      else
        add_coactivation({to_decision->record(to), to_decision->fan_out}, mask, counter);
    }
    ++at;
  }
  add(counter.take(), sum);
  return sum;
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
  Statement find(state_->db, "SELECT token, cells, load FROM token_load WHERE router = ? ORDER BY cells DESC, token LIMIT ?");
  for (find.bind(1, router_key(run, router)).bind(2, most); find.step();) {
    out.push_back({static_cast<int32_t>(find.integer(0)), state_->count_of(find, 1), blob::read_numbers(find.blob(2), path())});
    state_->check_loads(out.back().load, run, router);
  }
  return out;
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

std::vector<SequenceInput> SessionReader::inputs(int64_t run, int64_t first, int64_t count) const {
  std::vector<SequenceInput> out;
  Statement find(state_->db, "SELECT number, label, text FROM sequence WHERE run = ? AND number >= ? AND number < ? ORDER BY number");
  first = std::max<int64_t>(first, 0);
  find.bind(1, run).bind(2, first).bind(3, first + std::clamp<int64_t>(count, 0, INT64_MAX - first));
  while (find.step()) out.push_back({find.integer(0), std::string(find.text(1)), std::string(find.text(2))});
  return out;
}

int64_t SessionReader::sequences(int64_t run) const {
  // Batches that share the last first sequence may differ in size: decoding steps of sequences that ended earlier.
  Statement find(state_->db,
                 "SELECT max(first_sequence + sequences) FROM batch WHERE run = ?1 AND first_sequence = (SELECT max(first_sequence) FROM batch "
                 "WHERE run = ?1)");
  find.bind(1, run);
  return find.step() ? find.integer(0) : 0;
}

std::vector<int64_t> SessionReader::batches_with(int64_t run, int64_t first, int64_t count, int64_t most) const {
  std::vector<int64_t> out;
  Statement find(state_->db,
                 "SELECT number FROM batch WHERE run = ?1 AND first_sequence >= coalesce((SELECT max(first_sequence) FROM batch WHERE run = ?1 AND "
                 "first_sequence <= ?2), ?2) AND first_sequence < ?3 ORDER BY id LIMIT ?4");
  find.bind(1, run).bind(2, first).bind(3, first + count).bind(4, most);
  while (find.step()) out.push_back(find.integer(0));
  return out;
}

bool SessionReader::has_pieces() const {
  return state_->summary.schema >= 2 && state_->db.number("SELECT EXISTS(SELECT 1 FROM piece)") != 0;
}

std::map<int32_t, std::string> SessionReader::pieces(std::span<const int32_t> tokens) const {
  std::map<int32_t, std::string> out;
  if (state_->summary.schema < 2) return out;
  Statement find(state_->db, "SELECT text FROM piece WHERE token = ?");
  for (const int32_t token : tokens) {
    if (out.contains(token)) continue;
    find.bind(1, int64_t{token});
    if (find.step()) out.emplace(token, find.text(0));
    find.reset();
  }
  return out;
}

int64_t SessionReader::pages_read() const {
  int current = 0, highest = 0;
  sqlite3_db_status(state_->db.handle(), SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0);
  return current;
}

}  // namespace stormcell
