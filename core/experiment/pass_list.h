// The passes of this version, for programs that name them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stormcell {

/// An option of a pass: a switch ("on", "off"), a share of one, or a whole number.
struct PassOptionLine {
  enum class Kind : uint8_t { flag, share, count };
  std::string key, summary;
  Kind kind = Kind::flag;
  std::string standard;
  double least = 0, most = 1;  ///< of numbers
};
struct PassLine {
  std::string id, name, summary;  ///< name and summary: the words for people (core/base/pass_names.h)
  bool lossy = false;             ///< changes results: runs only when enabled by name
  std::vector<PassOptionLine> options;
};
/// Passes in the order in which they are applied.
std::vector<PassLine> list_passes();
/// Throws Error(bad_input) that names `option`: an unknown id, with the list; one that this version does not have.
void check_pass_ids(const std::string& option, const std::vector<std::string>& ids);
/// "dead-path.max-share=0.01" and its like, by pass and option. Throws Error(bad_input) that names `option`.
std::map<std::string, std::map<std::string, std::string>> parse_pass_options(const std::string& option,
                                                                             const std::vector<std::string>& texts);

}  // namespace stormcell
