// Restores the header of a session's file: opening a session for writing and rolling everything back leaves the file as
// it was, byte for byte.
#pragma once
#include <cstdint>
#include <string>

#include "core/session/sqlite.h"

namespace stormcell {

/// The first 100 bytes of an SQLite file (section 1.3 of its format); empty: it has fewer. They are read through the
/// connection, because closing another descriptor of the file would end SQLite's locks.
std::string read_file_header(sqlite::Database& db);

/// Entering and leaving write-ahead logging counts as two changes of the file. Writes `before` back if the header
/// differs from it only in those counts. The caller guarantees that nothing changed between reading `before` and
/// `data_version`, the value of PRAGMA data_version on this connection. If that value is another now, or the file is in
/// use, nothing is done.
void restore_file_header(sqlite::Database& db, const std::string& before, int64_t data_version);

}  // namespace stormcell
