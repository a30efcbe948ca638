// What a session file gives away, in words: to be read before it is shared.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

struct SessionContents {
  std::vector<std::string> holds;  ///< sentences
  bool private_texts = false;      ///< texts or token ids of the data are in the file
};
SessionContents session_contents(const std::string& file);

/// The session that the build recorded with the demo model. Throws Error(bad_input) where it is not installed.
std::string sample_session();

}  // namespace stormcell
