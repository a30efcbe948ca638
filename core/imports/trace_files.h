// The files that an import reads: those that the session does not have yet.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/formats/mapped_file.h"
#include "core/imports/import_options.h"

namespace stormcell {

struct TraceFile {
  std::string path;
  /// content of a packed file that is not large; null: open_trace() reads it
  std::shared_ptr<const MappedFile> unpacked;
};

struct KnownRun {
  std::string session;
  int64_t run = 0;
};

struct TraceFiles {
  std::vector<TraceFile> traces;  ///< traces to read; those of a folder in the order of their names
  std::vector<KnownRun> known;    ///< for each file that a session holds already, its run
  std::vector<std::string> warnings;
  bool part_missing = false;  ///< one of a set of numbered files is missing: a warning names it
};

/// Files are recognised by their content, and each content is read once. A file is read again if the options for it
/// have changed; a file of a folder only if there are options now. A file that the user names is also read again if it
/// is large and was written anew. Subfolders are not searched. Error(bad_input) for a folder without a trace, and for
/// standard input.
TraceFiles find_trace_files(const ImportOptions& options, const Progress& progress);

/// Opens a trace; unpacks it if it is packed with gzip.
std::shared_ptr<const MappedFile> open_trace(const std::string& path, const Progress& progress);
/// The name of the file without folders and endings: "trace" for "runs/trace.csv.gz".
std::string name_of_trace(const std::string& path);

/// Identifies a trace whatever its name: its size and a SHA-256 over at most 1 MiB spread over it
/// ("4096-5feceb66ff..."), so that gigabytes need not be read twice.
std::string content_of(const MappedFile& file);
/// When a file was last written, in nanoseconds of the file system's clock; 0: unknown.
int64_t modified_of(const std::string& path);
/// The user's options that change how traces are read: "hidden 64, ffn 32"; empty: none.
std::string told_of(const ImportOptions& options);

}  // namespace stormcell
