// A thin layer over SQLite: owning handles, bound values, and errors that a person can act on.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace stormcell::sqlite {

enum class OpenMode : uint8_t {
  create,  ///< read and write; created if it does not exist
  read,    ///< refuses changes; opened for writing where the file allows it, because a -wal that a killed run left must
           ///< be recovered
  immutable,  ///< the file cannot change: read-only media
};

class Database {
 public:
  Database() = default;
  /// Throws Error.
  Database(const std::string& path, OpenMode mode);
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  void execute(const char* sql);
  /// First column of the first row, or `otherwise`.
  int64_t number(const char* sql, int64_t otherwise = 0);
  std::string text(const char* sql);
  sqlite3* handle() const { return db_; }
  const std::string& path() const { return path_; }
  bool in_transaction() const;
  /// Closes; returns false where SQLite could not.
  bool close();

 private:
  sqlite3* db_ = nullptr;
  std::string path_;
};

/// Error(bad_input) with the reason if a database cannot be written at `path`. SQLite's own last error may concern
/// another file beside it.
void check_place_to_write(const std::string& path);

/// Opens an existing database for reading, even in a read-only folder.
Database open_to_read(const std::string& path);

/// A prepared statement. Bound spans and texts must live until the next reset.
class Statement {
 public:
  Statement() = default;
  Statement(Database& db, const char* sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  Statement& bind(int at, int64_t value);
  Statement& bind(int at, double value);
  Statement& bind(int at, std::string_view value);
  Statement& bind(int at, std::span<const uint8_t> blob);
  Statement& bind_null(int at);
  /// True while there is a row.
  bool step();
  /// Runs a statement without rows, ready to be bound again.
  void run();
  void reset();

  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;          ///< valid until the next step
  std::span<const uint8_t> blob(int column) const;  ///< valid until the next step
  bool null(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
  const std::string* path_ = nullptr;
};

/// Throws the Error for a result code: bad_input if the file is no database, else failed.
[[noreturn]] void fail(sqlite3* db, int code, const std::string& path);

}  // namespace stormcell::sqlite
