// Opens and closes a session and lists its runs; their content is read by the session_reader_*.cpp beside this.
#include "core/session/session_reader.h"

#include <sqlite3.h>

#include <charconv>
#include <filesystem>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/session/advice.h"
#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

namespace {

RunStatus status_of(std::string_view text, std::string_view writer) {
  for (const RunStatus s : {RunStatus::finished, RunStatus::interrupted, RunStatus::failed})
    if (text == to_text(s)) return s;
  return is_alive(std::string(writer)) ? RunStatus::running : RunStatus::interrupted;
}

constexpr const char* kRunColumns =
    "id, kind, name, config, machine, dataset, summary, started, finished, status, writer";

}  // namespace

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

SessionPath parse_session_path(std::string_view text) {
  const size_t hash = text.rfind('#');
  std::error_code ignored;
  if (hash == std::string_view::npos || std::filesystem::exists(text, ignored)) return {std::string(text), {}};
  return {std::string(text.substr(0, hash)), std::string(text.substr(hash + 1))};
}

SessionReader::SessionReader(const std::string& path) : state_(std::make_unique<State>()) {
  may_block("SessionReader");
  State& s = *state_;
  s.path = path;
  switch (look_at(path)) {
    case FileState::missing:
      bad_input(path, "no such file", kCheckPath);
    case FileState::empty:
      bad_input(path, "is empty, not a session", kNameSession);
    case FileState::something:
      break;
  }
  s.db = sqlite::open_to_read(path);
  check_session(s.db);
  s.summary.schema = static_cast<int32_t>(s.db.number("PRAGMA user_version"));
  adapt_to_read(s.db);
  Statement meta(s.db, "SELECT key, value FROM meta");
  while (meta.step()) {
    if (meta.text(0) == "id") s.summary.id = meta.text(1);
    if (meta.text(0) == "created") s.summary.created = meta.text(1);
    if (meta.text(0) == "program") s.summary.program = meta.text(1);
  }
  Statement model(s.db, "SELECT fingerprint, name, family, json, form FROM model LIMIT 1");
  if (model.step())
    s.summary.model = {std::string(model.text(0)), std::string(model.text(1)), std::string(model.text(2)),
                       std::string(model.text(3)), std::string(model.text(4))};
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

int64_t SessionReader::pages_read() const {
  int current = 0, highest = 0;
  sqlite3_db_status(state_->db.handle(), SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0);
  return current;
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

std::vector<RunSummary> SessionReader::runs() const {
  std::vector<RunSummary> runs;
  Statement find(state_->db, (std::string("SELECT ") + kRunColumns + " FROM run ORDER BY id").c_str());
  while (find.step()) runs.push_back(state_->run_of(find));
  return runs;
}

RunSummary SessionReader::run(int64_t id) const {
  Statement find(state_->db, (std::string("SELECT ") + kRunColumns + " FROM run WHERE id = ?").c_str());
  find.bind(1, id);
  if (!find.step()) bad_input(path(), "there is no run #" + std::to_string(id), kListRuns);
  return state_->run_of(find);
}

RunSummary SessionReader::find_run(std::string_view selector) const {
  Statement find(state_->db, "SELECT id, name, kind FROM run ORDER BY id DESC");
  const auto number = whole_number(selector);
  std::string known;
  while (find.step()) {
    if (selector.empty() || number == find.integer(0) || selector == find.text(1)) return run(find.integer(0));
    if (known.size() < 200)
      known += (known.empty() ? "#" : ", #") + std::to_string(find.integer(0)) + " " +
               std::string(find.text(1).empty() ? find.text(2) : find.text(1));
  }
  if (known.empty()) bad_input(path(), "holds no run yet", kRecordOne);
  if (const std::optional<StoredPlacement> placement = named_placement(selector)) return run(placement->run);
  bad_input(path(), "there is no run \"" + std::string(selector) + "\"", "it holds " + known);
}

}  // namespace stormcell
