// Names of a graph's values, each of which occurs once.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace stormcell {

class ValueNames {
 public:
  /// A name that a value has already.
  void add(const std::string& name) { known_.emplace(name, 0); }
  /// `base`, or where that is taken `base.1`, `base.2`, ...
  std::string take(std::string_view base);
  /// `base.1`, `base.2`, ..., never `base` itself.
  std::string take_numbered(std::string_view base);

 private:
  std::map<std::string, int, std::less<>> known_;  // with the last number that was given behind it
};

}  // namespace stormcell
