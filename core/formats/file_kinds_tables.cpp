// Kinds of tables, databases and profiles.
#include <array>

#include "core/formats/file_kind_groups.h"
#include "core/formats/file_marks.h"

namespace stormcell {
namespace {

using Look = const FileLook&;

constexpr std::array kTables = {
    FileKind{"session", "a session", "name it where a verb takes a SESSION: stormcell inspect FILE", FileUse::session,
             "", is_session_database, session_detail},
    FileKind{"nsight", "a profile of Nsight Systems as SQLite", remedy::kTimesAlone, kNoUse, "SQLite format 3",
             [](Look l) { return holds(l, "CUPTI_") || holds(l, "NVTX_EVENTS"); }},
    FileKind{"sqlite", "an SQLite database of another program", "name a file that this program wrote with -o", kNoUse,
             "SQLite format 3"},
    FileKind{"sqlite-log", "the log beside an SQLite database", "name the session itself, without -wal or -journal",
             kNoUse, "",
             [](Look l) {
               return l.head.starts_with("\x37\x7f\x06\x82") || l.head.starts_with("\x37\x7f\x06\x83") ||
                      l.head.starts_with("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");
             }},
    FileKind{"nsight", "a profile of Nsight", remedy::kTimesAlone, kNoUse, "",
             [](Look l) {
               return name_ends(l, {".nsys-rep", ".qdrep", ".qdstrm", ".ncu-rep"});
             }},
    FileKind{"perf", "a profile of perf", remedy::kTimesAlone, kNoUse, "PERFILE2"},
    FileKind{"parquet", "a Parquet table", remedy::kAsTable, kNoUse, "PAR1"},
    FileKind{"arrow", "an Arrow table", remedy::kAsTable, kNoUse, "ARROW1"},
    FileKind{"arrow", "a Feather table", remedy::kAsTable, kNoUse, "FEA1"},
    FileKind{"orc", "an ORC table", remedy::kAsTable, kNoUse, "ORC", is_not_text},
    FileKind{"avro", "an Avro table", remedy::kAsTable, kNoUse, "Obj\x01"},
    FileKind{"matlab", "a MATLAB file", remedy::kAsTable, kNoUse, "MATLAB 5.0"},
    FileKind{"office", "an Excel or Word file of the old form", "save the sheet as CSV in UTF-8", kNoUse,
             "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"},
};

}  // namespace

std::span<const FileKind> table_kinds() { return kTables; }

}  // namespace stormcell
