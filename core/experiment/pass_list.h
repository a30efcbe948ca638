// The passes of this version, for programs that name them.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

struct PassLine {
  std::string id, summary;
  bool lossy = false;  ///< changes results: runs only when enabled by name
};
/// In the order in which they are applied.
std::vector<PassLine> list_passes();
/// Throws Error(bad_input) that names `option`: an unknown id, with the list; one that this version does not have.
void check_pass_ids(const std::string& option, const std::vector<std::string>& ids);

}  // namespace stormcell
