// Which files an import reads: those that are named, and of folders what the session does not have yet.
#pragma once
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/formats/mapped_file.h"

namespace stormcell {

struct TraceFiles {
  std::vector<std::string> traces;  ///< to be read, those of a folder in the order of their names
  std::vector<std::string> known;   ///< of folders, what the session holds already
  std::vector<std::string> warnings;
};

/// Folders are not searched below. Error(bad_input): a folder without a trace, standard input.
TraceFiles find_trace_files(const std::vector<std::string>& named, const std::string& session, const Progress& progress);

/// By what a trace is known again, whatever its name: its size and a SHA-256 over at most 1 MiB spread over it ("4096-5feceb66ff..."), so
/// that gigabytes need not be read twice.
std::string content_of(const MappedFile& file);

}  // namespace stormcell
