#include "core/cell/intervention.h"

#include <fmt/format.h>

#include "core/base/bounded_number.h"
#include "core/base/error.h"

namespace stormcell {
namespace {

constexpr double kLeastCapacityFactor = 1e-6, kMostCapacityFactor = 1e6, kMostCapacityCells = 1 << 30;

}  // namespace

std::string to_text(const Capacity& capacity) {
  switch (capacity.unit) {
    case Capacity::Unit::cells:
      return fmt::format("{}", static_cast<int64_t>(capacity.value));
    case Capacity::Unit::factor:
      return fmt::format("{}x", capacity.value);
    case Capacity::Unit::all:
      break;
  }
  return "all";
}

Capacity parse_capacity(std::string_view where, std::string_view word) {
  if (word == "all") return {};
  if (word.ends_with('x')) {
    word.remove_suffix(1);
    return {Capacity::Unit::factor, bounded_number<double>(where, word, {kLeastCapacityFactor, kMostCapacityFactor})};
  }
  return {Capacity::Unit::cells, static_cast<double>(bounded_number<int32_t>(where, word, {1, kMostCapacityCells}))};
}

CapacityChange parse_capacity_change(std::string_view where, std::string_view text) {
  const size_t sign = text.rfind('=');
  if (sign == std::string_view::npos) return {{}, parse_capacity(where, text)};
  if (sign == 0)
    bad_input(std::string(where), "\"" + std::string(text) + "\" names no router before the =",
              "use ROUTER=8, or 8 for all routers; inspect lists the routers");
  return {std::string(text.substr(0, sign)), parse_capacity(where, text.substr(sign + 1))};
}

std::string to_text(const CapacityChange& change) {
  return (change.router.empty() ? std::string() : change.router + "=") + to_text(change.capacity);
}

}  // namespace stormcell
