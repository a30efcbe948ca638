#include "core/graph/value_names.h"

namespace stormcell {

std::string ValueNames::take(std::string_view base) {
  const auto [at, fresh] = known_.emplace(std::string(base), 0);
  return fresh ? at->first : take_numbered(base);
}

std::string ValueNames::take_numbered(std::string_view base) {
  int& number = known_.emplace(std::string(base), 0).first->second;
  for (;;) {
    std::string candidate = std::string(base) + "." + std::to_string(++number);
    if (known_.emplace(candidate, 0).second) return candidate;
  }
}

}  // namespace stormcell
