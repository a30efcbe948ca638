#include "core/session/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/session/advice.h"

namespace stormcell::sqlite {
namespace {
// A commit of another writer takes milliseconds; its checkpoint on a slow disk takes seconds.
constexpr int kBusyMs = 10000;

int flags(OpenMode mode) {
  constexpr int kCommon = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::create:
      return kCommon | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case OpenMode::read:
      return kCommon | SQLITE_OPEN_READWRITE;
    case OpenMode::immutable:
      return kCommon | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  return kCommon;
}

// A path as a URI that asks for no locks and no -wal.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02x", static_cast<unsigned char>(c));
      uri += code;
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}
// The system's last error with the database or its journal: sqlite3_system_errno() does not know it for a commit.
int last_errno(sqlite3* db) {
  int error = 0;
  if (!db) return error;
  if ((error = sqlite3_system_errno(db)) != 0) return error;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK && error != 0) return error;
  sqlite3_file* journal = nullptr;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK && journal &&
      journal->pMethods && journal->pMethods->xFileControl)
    journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

constexpr std::string_view kWritablePlace =
    "choose a folder that exists and can be written: a log is kept beside a session while it is recorded";

/// Throws if no file can be made there although the folder seems to allow it, as in /proc: another place is needed.
/// Does not throw if the disk failed.
void refuse_place(const std::string& path, int error) {
  constexpr int kNoPlace[] = {ENOENT, ENOTDIR, EACCES, EPERM, EINVAL, ENAMETOOLONG, ELOOP};
  if (std::find(std::begin(kNoPlace), std::end(kNoPlace), error) != std::end(kNoPlace))
    bad_input(path, "cannot be made: " + std::string(std::strerror(error)), kWritablePlace);
}

// SQLite's words for a table that is gone or has another form, in ours.
std::string what_is_missing(std::string_view words) {
  for (const auto& [begin, ours] : {std::pair<std::string_view, const char*>{"no such table: ", "it has no table "},
                                    {"no such column: ", "a table has no column "}})
    if (words.starts_with(begin)) {
      words.remove_prefix(begin.size());
      if (const size_t schema = words.find('.'); schema != std::string_view::npos && words.starts_with("main."))
        words.remove_prefix(schema + 1);
      return ours + std::string(words);
    }
  return "a table does not have the form of a session's";
}
}  // namespace

void fail(sqlite3* db, int code, const std::string& path) {
  const int system = last_errno(db);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      refuse_file(
          path, FileUse::session, "is not a session: it does not begin like one",
          "if it was a session, copy it again; stormcell import FILE -o S.storm makes one from a routing trace");
    case SQLITE_CORRUPT:
      bad_input(path, "the file is damaged", kCopyAgain);
    // The statements are fixed, so that only tables of another form make them wrong.
    case SQLITE_ERROR:
      bad_input(path, "the file is damaged: " + what_is_missing(db ? sqlite3_errmsg(db) : ""), kCopyAgain);
    case SQLITE_FULL:
      failed(path, "no space left on the disk", "free some; what was finished before is kept");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      failed(path, "no permission to write", kCheckPermissions);
    case SQLITE_CANTOPEN:
      failed(path, system ? std::strerror(system) : "cannot be opened",
             "the folder must exist and be writable while a session is recorded");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      failed(path, "another program is writing to it", "wait for it to end, or choose another file");
    case SQLITE_IOERR:
      if (system == ENOSPC || system == EDQUOT)
        failed(path, "no space left on the disk", "free some; what was finished before is kept");
      failed(path, system ? std::strerror(system) : "the disk does not read or write",
             "what was finished before is kept");
    case SQLITE_NOMEM:
      failed(path, "out of memory");
    default:
      failed(path, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
  }
}

Database::Database(const std::string& path, OpenMode mode) : path_(path) {
  const std::string name = mode == OpenMode::immutable ? immutable_uri(path) : path;
  if (const int code = sqlite3_open_v2(name.c_str(), &db_, flags(mode), nullptr)) {
    sqlite3* db = std::exchange(db_, nullptr);
    try {
      if (mode == OpenMode::create && (code & 0xff) == SQLITE_CANTOPEN) refuse_place(path, last_errno(db));
      fail(db, code, path);
    } catch (...) {
      sqlite3_close(db);
      throw;
    }
  }
  sqlite3_busy_timeout(db_, kBusyMs);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (mode != OpenMode::create) execute("PRAGMA query_only=1");
}

void check_place_to_write(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const auto refuse = [&](const std::string& what) { bad_input(path, what, kWritablePlace); };
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) refuse("its folder: " + std::string(std::strerror(errno)));
  if (!S_ISDIR(status.st_mode)) refuse("its folder is a file");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse("its folder cannot be written: " + std::string(std::strerror(errno)));
  if (::stat(path.c_str(), &status) == 0 && ::access(path.c_str(), R_OK | W_OK) != 0)
    refuse("cannot be written: " + std::string(std::strerror(errno)));
}

Database open_to_read(const std::string& path) {
  try {
    Database db(path, OpenMode::read);
    db.number("SELECT count(*) FROM sqlite_schema");  // the first access is what finds out
    return db;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::failed) throw;
    // WAL mode needs a file beside the session. If it cannot be made and there is no -wal, the file itself is complete.
    struct stat wal {};
    if (::stat((path + "-wal").c_str(), &wal) == 0 && wal.st_size > 0) {
      if (::access(path.c_str(), R_OK) == 0 && ::access((path + "-wal").c_str(), R_OK) == 0 &&
          ::access(path.c_str(), W_OK) == 0)
        throw;
      bad_input(
          path,
          "belongs together with " + path + "-wal, which cannot be read without permission to write in its folder",
          "copy both files to a folder of your own");
    }
    Database db(path, OpenMode::immutable);
    db.number("SELECT count(*) FROM sqlite_schema");
    return db;
  }
}

Database::~Database() { close(); }
Database::Database(Database&& other) noexcept : db_(std::exchange(other.db_, nullptr)), path_(std::move(other.path_)) {}
Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  std::swap(path_, other.path_);
  return *this;
}

bool Database::close() { return sqlite3_close_v2(std::exchange(db_, nullptr)) == SQLITE_OK; }
bool Database::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

void Database::execute(const char* sql) {
  if (const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)) fail(db_, code, path_);
}
int64_t Database::number(const char* sql, int64_t otherwise) {
  Statement s(*this, sql);
  return s.step() && !s.null(0) ? s.integer(0) : otherwise;
}
std::string Database::text(const char* sql) {
  Statement s(*this, sql);
  return s.step() ? std::string(s.text(0)) : std::string();
}

Statement::Statement(Database& db, const char* sql) : path_(&db.path()) {
  if (const int code = sqlite3_prepare_v3(db.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr))
    fail(db.handle(), code, *path_);
}
Statement::~Statement() { sqlite3_finalize(statement_); }
Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), path_(other.path_) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(path_, other.path_);
  return *this;
}

Statement& Statement::bind(int at, int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
  return *this;
}
Statement& Statement::bind(int at, double value) {
  sqlite3_bind_double(statement_, at, value);
  return *this;
}
Statement& Statement::bind(int at, std::string_view value) {
  sqlite3_bind_text64(statement_, at, value.data() ? value.data() : "", value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(int at, std::span<const uint8_t> blob) {
  if (const int code = sqlite3_bind_blob64(
          statement_, at, blob.data() ? blob.data() : reinterpret_cast<const uint8_t*>(""), blob.size(), SQLITE_STATIC))
    fail(sqlite3_db_handle(statement_), code, *path_);
  return *this;
}
Statement& Statement::bind_null(int at) {
  sqlite3_bind_null(statement_, at);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(statement_);
  sqlite3_reset(statement_);
  fail(db, code, *path_);
}
void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_);
}
void Statement::reset() { sqlite3_reset(statement_); }

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {text ? text : "", static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
std::span<const uint8_t> Statement::blob(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
  return {data, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
bool Statement::null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

}  // namespace stormcell::sqlite
