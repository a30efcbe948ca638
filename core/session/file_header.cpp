#include "core/session/file_header.h"

#include <sqlite3.h>

#include <cstddef>

#include "core/base/error.h"

namespace stormcell {
namespace {

constexpr int kHeader = 100;

sqlite3_file* file_of(sqlite::Database& db) {
  sqlite3_file* file = nullptr;
  const bool found = sqlite3_file_control(db.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK;
  return found && file && file->pMethods ? file : nullptr;
}

/// The counter of changes, and the value of it for which the size in the header is valid.
constexpr bool is_counter(size_t byte) { return (byte >= 24 && byte < 28) || (byte >= 92 && byte < 96); }

bool differs_in_counters_alone(const std::string& now, const std::string& before) {
  if (now.empty() || now.size() != before.size()) return false;
  for (size_t i = 0; i < now.size(); ++i)
    if (now[i] != before[i] && !is_counter(i)) return false;
  return true;
}

}  // namespace

std::string read_file_header(sqlite::Database& db) {
  sqlite3_file* const file = file_of(db);
  std::string header(kHeader, '\0');
  return file && file->pMethods->xRead(file, header.data(), kHeader, 0) == SQLITE_OK ? header : std::string();
}

void restore_file_header(sqlite::Database& db, const std::string& before, int64_t data_version) {
  // No other process reads or writes the file until this transaction ends.
  try {
    db.execute("BEGIN EXCLUSIVE");
  } catch (const Error&) {
    return;
  }
  sqlite3_file* const file = file_of(db);
  if (file && db.number("PRAGMA data_version") == data_version &&
      differs_in_counters_alone(read_file_header(db), before))
    file->pMethods->xWrite(file, before.data(), kHeader, 0);
  db.execute("ROLLBACK");
}

}  // namespace stormcell
