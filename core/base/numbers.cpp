#include "core/base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace stormcell {

std::optional<Bytes> parse_bytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"kB", 1e3},
                                                   {"MB", 1e6},
                                                   {"GB", 1e9},
                                                   {"TB", 1e12},
                                                   {"KiB", 0x1p10},
                                                   {"MiB", 0x1p20},
                                                   {"GiB", 0x1p30},
                                                   {"TiB", 0x1p40}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const Unit& unit : kUnits)
    if (unit.name == text && number * unit.bytes < 0x1p62) return Bytes(static_cast<int64_t>(number * unit.bytes));
  return {};
}

std::string to_text(Bytes bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes.value;
  size_t unit = 0;
  while (std::fabs(value) >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace stormcell
