#include "core/session/session_writer.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_fields.h"
#include "core/session/advice.h"
#include "core/session/file_header.h"
#include "core/session/session_writer_state.h"

namespace stormcell {
namespace {

using sqlite::Statement;
using Clock = std::chrono::steady_clock;

constexpr auto kCloseRetry = std::chrono::seconds(2);

std::string short_print(const std::string& fingerprint) {
  return fingerprint.empty() ? "none" : fingerprint.substr(0, 12);
}

/// The schema version of an existing file; 0: an SQLite file without a session.
int64_t version_to_write_to(sqlite::Database& db) {
  try {
    return db.number("PRAGMA user_version");
  } catch (const Error&) {
    if ((sqlite3_errcode(db.handle()) & 0xff) == SQLITE_NOTADB) {
      const std::optional<KnownFile> known = known_file(db.path());
      bad_input(db.path(), known ? "is " + known->name + ", not a session" : "not a session", kChooseAnother);
    }
    throw;
  }
}

}  // namespace

void SessionWriterState::open(const ModelSummary& summary) {
  const FileState state = look_at(path, kChooseAnother);
  sqlite::check_place_to_write(path);
  db = sqlite::Database(path, sqlite::OpenMode::create);
  // SQLite opens a file that may not be written without a word, and its BEGIN IMMEDIATE then only reads.
  if (sqlite3_db_readonly(db.handle(), "main") == 1) bad_input(path, "no permission to write", kCheckPermissions);
  if (state != FileState::something) {
    db.execute("PRAGMA page_size=8192");
  } else if (version_to_write_to(db) > 0) {
    check_session(db, kChooseAnother);
    find_model(summary);  // refused before anything of the file changes
  }
  const int64_t version = db.number("PRAGMA user_version");
  header = read_file_header(db);
  migrate(db);
  if (db.number("PRAGMA user_version") != version) header.clear();
  // Fails over to the file's own mode where shared memory cannot be had; that only makes readers wait.
  try {
    db.text("PRAGMA journal_mode=WAL");
  } catch (const Error&) {
  }
  db.execute("PRAGMA synchronous=NORMAL");
  db.execute("BEGIN IMMEDIATE");
  if (!find_model(summary)) {
    Statement insert(db, "INSERT INTO model(id, fingerprint, name, family, json, form) VALUES(1, ?, ?, ?, ?, ?)");
    insert.bind(1, std::string_view(summary.fingerprint)).bind(2, std::string_view(summary.name));
    insert.bind(3, std::string_view(summary.family))
        .bind(4, std::string_view(summary.json))
        .bind(5, std::string_view(summary.form))
        .run();
    model = 1;
  }
  // Runs whose writer was killed: they end where their last batch ended.
  std::vector<int64_t> dead;
  Statement running(db, "SELECT id, writer FROM run WHERE status = 'running'");
  while (running.step())
    if (!is_alive(std::string(running.text(1)))) dead.push_back(running.integer(0));
  Statement end(db, "UPDATE run SET status = 'interrupted' WHERE id = ?");
  for (const int64_t run : dead) end.bind(1, run).run();
  db.execute("COMMIT");
  if (sqlite3_total_changes(db.handle()) > 0) header.clear();
  data_version = db.number("PRAGMA data_version");
}

namespace {
/// ": 8 branches and not 16, 2 choices and not 4" for sizes of two models that both state; empty: none differ.
std::string unlike_sizes(std::string_view there, std::string_view here) {
  struct Size {
    const char *key, *noun;
  };
  constexpr Size kSizes[] = {{"layers", "layer"}, {"branches", "branch"}, {"k", "choice"}};
  const nlohmann::json a = nlohmann::json::parse(there, nullptr, false),
                       b = nlohmann::json::parse(here, nullptr, false);
  std::string list;
  for (const Size& size : kSizes) {
    const int64_t left = whole_at(a, size.key), right = whole_at(b, size.key);
    if (left > 0 && right > 0 && left != right)
      add_to_list(list, counted(left, size.noun) + " and not " + with_commas(right));
  }
  return list.empty() ? "" : ": " + list;
}
}  // namespace

// A session holds runs of one model.
bool SessionWriterState::find_model(const ModelSummary& summary) {
  Statement known(db, "SELECT id, fingerprint, name, json FROM model");
  if (!known.step()) return false;
  model = known.integer(0);
  if (known.text(1) != summary.fingerprint &&
      !(summary.is_older_fingerprint && summary.is_older_fingerprint(known.text(1))))
    bad_input(path,
              "holds runs of another model, " + std::string(known.text(2)) + " (" +
                  short_print(std::string(known.text(1))) + ") and not " + summary.name + " (" +
                  short_print(summary.fingerprint) + ")" + unlike_sizes(known.text(3), summary.json),
              "choose another file for -o");
  return true;
}

int64_t SessionWriterState::next_number() {
  const int64_t last = std::max(db.number("SELECT max(id) FROM run"), db.number("SELECT max(id) FROM placement"));
  if (last >= kMostRuns - 1) bad_input(path, "the session is full of runs");
  return std::max<int64_t>(last, 0) + 1;
}

void SessionWriterState::prepare() {
  insert_batch = Statement(db,
                           "INSERT INTO batch(id, run, number, latency_ms, first_sequence, sequences, guard_hits, "
                           "guard_misses, part, items, "
                           "server_step, rank) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
  insert_item = Statement(db, "INSERT OR IGNORE INTO batch_item(run, item, batch) VALUES(?,?,?)");
  insert_space = Statement(db,
                           "INSERT INTO batch_space(id, batch, space, first_sequence, sequences, per_sequence, step, "
                           "phase, real_cells, mask, tokens, "
                           "columns, starts) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert_decision = Statement(db, "INSERT INTO decision(id, data) VALUES(?,?)");
  insert_event = Statement(db, "INSERT INTO event(batch, data) VALUES(?,?)");
  insert_window =
      Statement(db, "INSERT INTO load_window(router, level, number, batches, cells, data) VALUES(?,?,?,?,?,?)");
  insert_pairs =
      Statement(db, "INSERT INTO pair_window(kind, router, level, number, next, batches, data) VALUES(?,?,?,?,?,?,?)");
  insert_sequence = Statement(db, "INSERT OR IGNORE INTO sequence(run, number, label, text) VALUES(?,?,?,?)");
  insert_miss = Statement(db, "INSERT OR REPLACE INTO guard_miss(batch, step, misses) VALUES(?,?,?)");
  insert_piece = Statement(db, "INSERT OR IGNORE INTO piece(token, text) VALUES(?,?)");
  delete_picture = Statement(db, "DELETE FROM picture WHERE run = ? AND item = ?");
  insert_picture =
      Statement(db, "INSERT OR IGNORE INTO picture(run, item, height, width, channels, pixels) VALUES(?,?,?,?,?,?)");
}

SessionWriter::SessionWriter(const std::string& path, const ModelSummary& model)
    : state_(std::make_shared<SessionWriterState>()) {
  state_->path = path;
  const bool existed = look_at(path, kChooseAnother) != FileState::missing;
  state_->made = !existed;
  try {
    state_->open(model);
    state_->prepare();
  } catch (const Error& e) {
    state_->db = {};
    if (!existed && look_at(path) == FileState::empty) ::unlink(path.c_str());
    // A folder without permission to write is a bad choice of file; a failing disk is not.
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const bool may_write =
        ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 && (!existed || ::access(path.c_str(), W_OK) == 0);
    if (e.kind() == ErrorKind::failed && !may_write) throw Error(ErrorKind::bad_input, {}, e.what());
    throw;
  }
}

SessionWriter::~SessionWriter() {
  try {
    close();
  } catch (const std::exception&) {
  }
}

const std::string& SessionWriter::path() const { return state_->path; }

std::unique_ptr<RunWriter> SessionWriter::begin_run(const RunStart& start) {
  return std::unique_ptr<RunWriter>(new RunWriter(state_, start));
}

int64_t SessionWriter::add_placement(const StoredPlacement& p) {
  SessionWriterState& s = *state_;
  int64_t id = 0;
  s.attempt([&] {
    s.begin();
    id = s.next_number();
    Statement insert(s.db,
                     "INSERT INTO placement(id, run, name, solver, created, layout, summary) VALUES(?,?,?,?,?,?,?)");
    const std::string now = now_utc();
    insert.bind(1, id)
        .bind(2, p.run)
        .bind(3, std::string_view(p.name))
        .bind(4, std::string_view(p.solver))
        .bind(5, std::string_view(now));
    insert.bind(6, std::string_view(p.layout)).bind(7, std::string_view(p.summary)).run();
    s.commit();
  });
  return id;
}

void SessionWriter::hold() {
  state_->attempt([&] {
    state_->begin();
    state_->held = true;
    state_->db.execute("PRAGMA cache_size=-8192");
  });
}

void SessionWriter::keep() {
  state_->attempt([&] {
    state_->held = false;
    state_->commit();
  });
}

void SessionWriter::take_back() {
  const std::lock_guard lock(state_->mutex);
  state_->rollback();
  state_->held = false;
  state_->taken_back = true;
  state_->broken = "recording was taken back";
  state_->remove = state_->made && state_->db.handle() && state_->db.number("SELECT count(*) FROM run") == 0;
}

bool SessionWriter::close() {
  SessionWriterState& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (!s.db.handle()) return true;
  std::exception_ptr error;
  bool plain = false;
  try {
    if (s.held || !s.broken.empty()) s.rollback();  // a rollback may have failed because memory was short
    s.commit();
    for (Statement* t :
         {&s.insert_batch, &s.insert_item, &s.insert_space, &s.insert_decision, &s.insert_event, &s.insert_window,
          &s.insert_pairs, &s.insert_sequence, &s.insert_miss, &s.insert_piece, &s.insert_picture, &s.delete_picture})
      *t = Statement();
    // Leaving WAL needs the file for itself: an idle reader is enough to be refused.
    sqlite3_busy_timeout(s.db.handle(), 0);
    for (const auto end = Clock::now() + kCloseRetry;;) {
      try {
        s.db.execute("PRAGMA wal_checkpoint(PASSIVE)");
        plain = s.db.text("PRAGMA journal_mode=DELETE") == "delete";
        break;
      } catch (const Error&) {
        const int code = sqlite3_errcode(s.db.handle()) & 0xff;
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED) throw;
        if (Clock::now() >= end) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
    if (s.taken_back && plain && !s.header.empty()) restore_file_header(s.db, s.header, s.data_version);
  } catch (...) {
    error = std::current_exception();
  }
  s.db = {};
  if (s.remove) ::unlink(s.path.c_str());
  if (error) std::rethrow_exception(error);
  return plain;
}

}  // namespace stormcell
