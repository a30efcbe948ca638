#include "core/profile/router_layer.h"

#include <algorithm>
#include <charconv>

namespace stormcell {

int32_t layer_in_name(std::string_view name) {
  for (size_t at = 0; at < name.size(); at = std::min(name.find('.', at), name.size()) + 1) {
    const size_t end = std::min(name.find('.', at), name.size());
    int32_t value = 0;
    const auto [after, error] = std::from_chars(name.data() + at, name.data() + end, value);
    if (error == std::errc() && after == name.data() + end && value >= 0) return value;
  }
  return -1;
}

}  // namespace stormcell
