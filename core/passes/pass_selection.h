// Which passes a plan has.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace stormcell {

/// As the options --enable, --disable, --only and --pass-option name them, by id; what is set of a pass, by pass and
/// option.
struct PassSelection {
  std::vector<std::string> enable, disable, only;
  std::map<std::string, std::map<std::string, std::string>> options = {};
};

}  // namespace stormcell
