// The header of a session's file: who opens a session to write and then takes everything back leaves the file as it was, byte for byte.
#pragma once
#include <cstdint>
#include <string>

#include "core/session/sqlite.h"

namespace stormcell {

/// The first 100 bytes of an SQLite file (its format, section 1.3); empty: it has fewer. They are read through the connection: closing
/// another descriptor of the file would end SQLite's locks.
std::string read_file_header(sqlite::Database& db);

/// Entering and leaving write-ahead logging counts as two changes of the file. Writes `before` back where the header differs from it in
/// nothing but those counts. The caller knows that nobody has changed anything since `before` was read, up to `data_version`, the value of
/// PRAGMA data_version on this connection; where it is another by now, or the file is in use, nothing is done.
void restore_file_header(sqlite::Database& db, const std::string& before, int64_t data_version);

}  // namespace stormcell
