// The contents of a session file in words: to be read before it is shared.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

struct SessionContents {
  std::vector<std::string> holds;  ///< sentences
  bool private_texts = false;      ///< texts or token ids of the data are in the file
};
SessionContents session_contents(const std::string& file);

/// Whether a run can be appended: neither the file nor its folder, where a log is kept while a run records, is
/// read-only.
bool session_is_writable(const std::string& file);

/// The session that comes with the program: the demo model on names in eight languages. Throws Error(bad_input) where
/// it is not installed.
std::string sample_session();

}  // namespace stormcell
