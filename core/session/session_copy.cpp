#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include <string>

#include "core/base/error.h"
#include "core/session/advice.h"
#include "core/session/schema.h"
#include "core/session/session_reader.h"
#include "core/session/sqlite.h"

namespace stormcell {
namespace {
// 128 pages of 8 KiB copy in about 1 ms: often enough to ask whether to stop, and a writer is never held up for long.
constexpr int kPagesAtATime = 128;

/// Overwrites their pages with zeros and frees them.
void leave_out_pictures(sqlite::Database& db) {
  if (db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'picture'") == 0) return;  // of an earlier schema
  db.execute("PRAGMA secure_delete=ON; DELETE FROM picture");
}
}  // namespace

// Copies into a new file beside the target and renames it at the end, so that a copy is there whole or not at all.
void copy_session(const std::string& from, const std::string& to, const Progress& progress, CopyPictures pictures) {
  if (look_at(from) == FileState::missing) bad_input(from, "no such file", kCheckPath);
  SessionReader source(from);
  if (::access(to.c_str(), F_OK) == 0)
    bad_input(to, "is there already", "choose another name; a session is never overwritten");
  const std::string part = to + ".part-" + std::to_string(::getpid());
  ::unlink(part.c_str());
  try {
    sqlite::Database read = sqlite::open_to_read(from);
    sqlite::Database write(part, sqlite::OpenMode::create);
    sqlite3_backup* backup = sqlite3_backup_init(write.handle(), "main", read.handle(), "main");
    if (!backup) sqlite::fail(write.handle(), sqlite3_errcode(write.handle()), to);
    int code = SQLITE_OK;
    try {
      // A snapshot for the whole copy: without it each commit of the writer would start it again.
      read.execute("BEGIN");
      read.number("SELECT count(*) FROM run");
      while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        if (code != SQLITE_OK) sqlite3_sleep(10);
        code = sqlite3_backup_step(backup, kPagesAtATime);
        const int64_t all = sqlite3_backup_pagecount(backup);
        progress.report("copy", all - sqlite3_backup_remaining(backup), all);
      }
    } catch (...) {
      sqlite3_backup_finish(backup);
      throw;
    }
    sqlite3_backup_finish(backup);
    if (code != SQLITE_DONE) sqlite::fail(write.handle(), code, to);
    write.text("PRAGMA journal_mode=DELETE");
    if (pictures == CopyPictures::no) leave_out_pictures(write);
    if (!write.close()) failed(to, "cannot be written");
    if (::rename(part.c_str(), to.c_str()) != 0) failed(to, "cannot be written");
  } catch (...) {
    ::unlink(part.c_str());
    ::unlink((part + "-journal").c_str());
    throw;
  }
}

}  // namespace stormcell
