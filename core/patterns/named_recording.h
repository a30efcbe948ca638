// Recordings that a person names on the command line: NAME=RECORDING, or a recording that is named by its file.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace stormcell {

/// Number of recordings of one call.
inline constexpr size_t kMostRecordings = 16;

struct NamedRecording {
  std::string name, path;
};

/// A text that is itself a file is a path, also with = in it. Error(bad_input): two have one name, or there are more
/// than kMostRecordings.
std::vector<NamedRecording> named_recordings(const std::vector<std::string>& texts);

}  // namespace stormcell
