// The passes that a plan has.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace stormcell {

/// The options --enable, --disable, --only and --pass-option by the passes' ids, and the values set by pass and option.
struct PassSelection {
  std::vector<std::string> enable, disable, only;
  std::map<std::string, std::map<std::string, std::string>> options = {};
};

}  // namespace stormcell
