// A session and one of its runs by name.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// The run that "S.storm", "S.storm#3" or "S.storm#name" names; of several runs of one name the newest.
struct NamedRun {
  std::string file;
  int64_t run = 0;  ///< 0: none is named
};
/// Opens the session if a run is named. A '#' may be part of a file's name: what exists as a whole is taken whole.
NamedRun find_named_run(const std::string& text);

}  // namespace stormcell
