// The tables of a session, their versions, and how a file is recognised as one. Documented in docs/session-format.md.
#pragma once
#include <cstdint>
#include <string>

#include "core/formats/file_marks.h"
#include "core/session/advice.h"
#include "core/session/sqlite.h"

namespace stormcell {

inline constexpr int32_t kApplicationId = kSessionApplicationId;
inline constexpr int32_t kSchemaVersion = 9;

// Keys are computed, so that neither a decision nor a batch needs an index.
inline constexpr int64_t kMostRouters = 4096, kMostSpaces = 64, kMostBatches = int64_t{1} << 32,
                         kMostRuns = int64_t{1} << 19;
inline constexpr int64_t batch_key(int64_t run, int64_t number) { return run * kMostBatches + number; }
inline constexpr int64_t decision_key(int64_t batch, int64_t router) { return batch * kMostRouters + router; }
inline constexpr int64_t space_key(int64_t batch, int64_t space) { return batch * kMostSpaces + space; }
inline constexpr int64_t router_key(int64_t run, int64_t router) { return run * kMostRouters + router; }

/// Branches up to which those without cells have a row in run_load, too.
inline constexpr size_t kMostWithEmptyRows = 65536;

enum class FileState : uint8_t { missing, empty, something };
/// Throws Error(bad_input) for a folder and the like. Does not open the file: closing it would drop the locks that
/// SQLite holds on it elsewhere in this process (POSIX locks belong to process and file). `advice`: the remedy if it
/// can be no session.
FileState look_at(const std::string& path, std::string_view advice = kNameSession);
/// Throws Error(bad_input) for a database that is no session, or one of a newer version. `advice`: the remedy for the
/// former; empty: that of the kind of the file.
void check_session(sqlite::Database& db, std::string_view advice = {});

/// Gives an older session that may not be changed the tables of this version, in the connection alone. Nothing to do
/// for a current one.
void adapt_to_read(sqlite::Database& db);

/// Brings an empty database or an older session to this version, in one transaction.
void migrate(sqlite::Database& db);

/// The writer of a run as "boot-id pid start-time", so that a reader sees whether a run marked as running still runs.
std::string this_writer();
bool is_alive(const std::string& writer);
/// ISO 8601 with milliseconds, UTC.
std::string now_utc();

}  // namespace stormcell
