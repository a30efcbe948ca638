#include "core/base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/error.h"

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

Bytes parse_bytes(std::string_view text, std::string_view where) {
  static constexpr std::pair<std::string_view, double> units[] = {{"", 1},     {"B", 1},        {"kB", 1e3},        {"MB", 1e6},
                                                                  {"GB", 1e9}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (error == std::errc() && number >= 0)
    for (const auto& [name, factor] : units)
      if (unit == name && number * factor < 9e18) return Bytes(std::llround(number * factor));
  bad_input(where, "\"" + std::string(text) + "\" is not a size", "a number and one of B kB MB GB KiB MiB GiB");
}

}  // namespace stormcell
