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
  int64_t batches(int64_t run) const {
    Statement last(db, "SELECT number FROM batch WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1");
    last.bind(1, batch_key(run, 0)).bind(2, batch_key(run + 1, 0) - 1);
    return last.step() ? last.integer(0) + 1 : 0;
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
  Statement router(db,
                   "SELECT name, branches, fan_out, protocol, space, stack, parent, parent_branch FROM router WHERE id BETWEEN ? AND ? ORDER BY id");
  for (router.bind(1, router_key(run, 0)).bind(2, router_key(run + 1, 0) - 1); router.step();) {
    RouterInfo r;
    r.name = router.text(0);
    r.branches = static_cast<int32_t>(std::clamp<int64_t>(router.integer(1), 1, 1 << 24));
    r.fan_out = static_cast<int32_t>(std::clamp<int64_t>(router.integer(2), 1, 1 << 16));
    r.protocol = router.text(3);
    r.space = static_cast<int32_t>(router.integer(4));
    r.stack = router.text(5);
    r.parent = static_cast<int32_t>(router.integer(6));
    r.parent_branch = static_cast<int32_t>(router.integer(7));
    layout.routers.push_back(std::move(r));
  }
  Statement step(db, "SELECT name, op, router, branch, flops, bytes FROM step WHERE run = ? ORDER BY ordinal");
  for (step.bind(1, run); step.step();)
    layout.steps.push_back({std::string(step.text(0)), std::string(step.text(1)), static_cast<int32_t>(step.integer(2)),
                            static_cast<int32_t>(step.integer(3)), step.real(4), step.real(5)});
  return layouts.emplace(run, std::move(layout)).first->second;
}

RunSummary SessionReader::State::run_of(const Statement& row) const {
  RunSummary r;
  r.id = row.integer(0);
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
    loads->batches = find.integer(0);
    loads->cells = find.integer(1);
  }
  find.reset();
  if (loads || level == 0) return loads;
  for (int64_t child = number << kWindowBits; child < (number + 1) << kWindowBits; ++child) {
    if (child << (kWindowBits * (level - 1)) >= batches) break;
    const auto part = window(find, run, router, level - 1, child, batches);
    if (!part) continue;
    if (!loads) loads = RouterLoads(part->branches());
    loads->add(*part);
  }
  return loads;
}

std::vector<RouterLoads> SessionReader::loads(int64_t run, int32_t router, int32_t level, int64_t first, int64_t count) const {
  const int32_t branches = state_->router(run, router).branches;
  const int64_t batches = state_->batches(run);
  if (level < 0 || level > coarsest_level(batches)) bad_input(path(), "run #" + std::to_string(run) + " has no level " + std::to_string(level));
  first = std::max<int64_t>(first, 0);
  const int64_t end = std::min(first + std::max<int64_t>(count, 0), window_count(batches, level));
  std::vector<RouterLoads> out;
  if (first >= end) return out;
  out.reserve(static_cast<size_t>(end - first));
  // One range scan, then the few that are missing at the end of an unfinished run.
  std::vector<bool> found(static_cast<size_t>(end - first));
  out.assign(found.size(), RouterLoads(branches));
  Statement scan(state_->db, "SELECT number, batches, cells, data FROM load_window WHERE router = ? AND level = ? AND number >= ? AND number < ?");
  scan.bind(1, router_key(run, router)).bind(2, int64_t{level}).bind(3, first).bind(4, end);
  while (scan.step()) {
    const auto at = static_cast<size_t>(scan.integer(0) - first);
    out[at] = blob::read_loads(scan.blob(3), branches, path());
    out[at].batches = scan.integer(1);
    out[at].cells = scan.integer(2);
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
    total.batches = find.integer(0);
    total.cells = find.integer(1);
    return total;
  }
  RouterLoads total(branches);
  for (const RouterLoads& window : loads(run, router, coarsest_level(state_->batches(run)), 0, kMostCoarseWindows)) total.add(window);
  return total;
}

std::vector<BatchSummary> SessionReader::batches(int64_t run, int64_t first, int64_t count) const {
  std::vector<BatchSummary> out;
  Statement find(state_->db,
                 "SELECT number, latency_ms, first_sequence, sequences, guard_hits, guard_misses FROM batch WHERE id >= ? AND id < ? ORDER BY id");
  first = std::clamp<int64_t>(first, 0, kMostBatches);
  find.bind(1, batch_key(run, first)).bind(2, batch_key(run, first + std::clamp<int64_t>(count, 0, kMostBatches - first)));
  while (find.step())
    out.push_back({find.integer(0), find.real(1), find.integer(2), static_cast<int32_t>(find.integer(3)), find.integer(4), find.integer(5)});
  return out;
}

std::vector<BatchSpace> SessionReader::spaces(int64_t run, int64_t batch) const {
  std::vector<BatchSpace> out;
  Statement find(state_->db,
                 "SELECT space, first_sequence, sequences, per_sequence, step, phase, real_cells, mask, tokens FROM batch_space WHERE id >= ? AND id < ?");
  const int64_t key = batch_key(run, batch);
  find.bind(1, space_key(key, 0)).bind(2, space_key(key + 1, 0));
  while (find.step()) {
    BatchSpace s;
    s.space = static_cast<int32_t>(find.integer(0));
    s.cells.first_sequence = find.integer(1);
    s.cells.sequences = static_cast<int32_t>(find.integer(2));
    s.cells.per_sequence = static_cast<int32_t>(find.integer(3));
    s.cells.step = static_cast<int32_t>(find.integer(4));
    s.cells.phase = static_cast<Phase>(std::clamp<int64_t>(find.integer(5), 0, 2));
    s.real_cells = find.integer(6);
    s.mask = blob::read_mask(find.blob(7), s.cells.cells(), s.cells.per_sequence, path());
    if (!find.null(8))
      for (const int64_t token : blob::read_numbers(find.blob(8), path())) s.tokens.push_back(static_cast<int32_t>(token));
    out.push_back(std::move(s));
  }
  return out;
}

bool SessionReader::has_decisions(int64_t run) const {
  Statement find(state_->db, "SELECT decisions FROM run WHERE id = ?");
  find.bind(1, run);
  return find.step() && find.integer(0) != 0;
}

std::optional<StoredDecision> SessionReader::decision(int64_t run, int32_t router, int64_t batch) const {
  const RouterInfo& info = state_->router(run, router);
  Statement find(state_->db, "SELECT data FROM decision WHERE id = ?");
  find.bind(1, decision_key(batch_key(run, batch), router));
  if (!find.step()) return std::nullopt;
  StoredDecision d = blob::read_decision(find.blob(0), path());
  if (d.branches != info.branches || d.fan_out != info.fan_out)
    bad_input(path(), "the file is damaged: a decision of " + info.name + " has " + std::to_string(d.branches) + " branches");
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
      if (s.space != space || s.cells.phase != cell.phase || s.cells.step != cell.step || s.cells.per_sequence <= 0) continue;
      const int64_t position = cell.position - (s.cells.phase == Phase::decode ? s.cells.step : 0);
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
  const int64_t all = batches(run), end = std::min(all, std::max<int64_t>(first, 0) + std::max<int64_t>(count, 0));
  PairTable sum{from_info.branches, to_info.branches, {}};
  PairCounter counter(from_info.branches, to_info.branches);
  std::vector<int32_t> scratch;
  Statement range(db, "SELECT min(level), max(level) FROM pair_window WHERE router = ? AND kind = ?");
  range.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind));
  range.step();
  const bool stored = !range.null(0);
  const auto finest = static_cast<int32_t>(range.integer(0)), coarsest = static_cast<int32_t>(std::clamp<int64_t>(range.integer(1), 0, 15));
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
  for (int64_t at = std::max<int64_t>(first, 0); at < end;) {
    bool taken = false;
    for (int32_t level = coarsest; stored && level >= finest && !taken; --level) {
      const int64_t size = int64_t{1} << (kWindowBits * level);
      if (at % size != 0 || (at + size > end && end < all)) continue;
      find.bind(1, router_key(run, router)).bind(2, static_cast<int64_t>(kind)).bind(3, int64_t{level}).bind(4, window_of(at, level));
      if (find.step()) {
        PairTable part = blob::read_pairs(find.blob(0), path);
        if (part.rows != sum.rows || part.columns != sum.columns) bad_input(path, "the file is damaged: a table of pairs has the wrong size");
        sum.add(part);
        at += size;
        taken = true;
      }
      find.reset();
    }
    if (taken) continue;
    const auto to_decision = decision_of(to, at);
    const auto from_decision = kind == PairKind::coactivation ? std::nullopt : decision_of(router, at);
    if (to_decision && (from_decision || kind == PairKind::coactivation)) {
      if (to_decision->branches != to_info.branches || (from_decision && from_decision->branches != from_info.branches))
        bad_input(path, "the file is damaged: a decision has the wrong number of branches");
      const auto mask = mask_of(at);
      const auto rows = [&](const StoredDecision& d) {
        int64_t most = d.ancestor.empty() ? d.cells : 0;
        for (const int32_t row : d.ancestor) most = row < 0 ? INT64_MAX : std::max<int64_t>(most, int64_t{row} + 1);
        return most;
      };
      const int64_t needed = std::max(rows(*to_decision), from_decision ? rows(*from_decision) : 0);
      if (needed > (1 << 28) || (!mask.empty() && needed > static_cast<int64_t>(mask.size()))) bad_input(path, "the file is damaged: a mask is too short");
      if (from_decision)
        add_transitions({from_decision->record(router), from_decision->fan_out}, {to_decision->record(to), to_decision->fan_out}, mask, scratch, counter);
      else
        add_coactivation({to_decision->record(to), to_decision->fan_out}, mask, counter);
    }
    ++at;
  }
  sum.add(counter.take());
  return sum;
}

std::vector<LabelLoads> SessionReader::label_loads(int64_t run, int32_t router) const {
  state_->router(run, router);
  std::vector<LabelLoads> out;
  Statement find(state_->db, "SELECT label, cells, load FROM label_load WHERE router = ? ORDER BY label");
  for (find.bind(1, router_key(run, router)); find.step();)
    out.push_back({std::string(find.text(0)), find.integer(1), blob::read_numbers(find.blob(2), path())});
  for (LabelLoads& l : out) l.load.resize(static_cast<size_t>(state_->router(run, router).branches));
  return out;
}

std::vector<TokenLoads> SessionReader::token_loads(int64_t run, int32_t router, int64_t most) const {
  const auto branches = static_cast<size_t>(state_->router(run, router).branches);
  std::vector<TokenLoads> out;
  Statement find(state_->db, "SELECT token, cells, load FROM token_load WHERE router = ? ORDER BY cells DESC, token LIMIT ?");
  for (find.bind(1, router_key(run, router)).bind(2, most); find.step();) {
    out.push_back({static_cast<int32_t>(find.integer(0)), find.integer(1), blob::read_numbers(find.blob(2), path())});
    out.back().load.resize(branches);
  }
  return out;
}

std::vector<StepEvent> SessionReader::events(int64_t run, int64_t batch) const {
  Statement find(state_->db, "SELECT data FROM event WHERE batch = ?");
  find.bind(1, batch_key(run, batch));
  return find.step() ? blob::read_events(find.blob(0), path()) : std::vector<StepEvent>();
}

std::vector<GuardTotal> SessionReader::guards(int64_t run) const {
  std::vector<GuardTotal> out;
  Statement find(state_->db, "SELECT step, hits, misses FROM guard WHERE run = ? ORDER BY step");
  for (find.bind(1, run); find.step();) out.push_back({static_cast<int32_t>(find.integer(0)), find.integer(1), find.integer(2)});
  return out;
}

std::vector<SequenceInput> SessionReader::inputs(int64_t run, int64_t first, int64_t count) const {
  std::vector<SequenceInput> out;
  Statement find(state_->db, "SELECT number, label, text FROM sequence WHERE run = ? AND number >= ? AND number < ? ORDER BY number");
  find.bind(1, run).bind(2, first).bind(3, first + count);
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
