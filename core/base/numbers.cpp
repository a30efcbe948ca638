#include "core/base/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace stormcell {

std::string to_text(Bytes bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes.value);
  size_t unit = 0;
  while (std::fabs(value) >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace stormcell
