#include "core/formats/table_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stormcell {
namespace {

constexpr std::string_view kDigits = "0123456789";

template <class T>
std::optional<T> number_in(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// True if one of these characters is between digits and everything else may be part of a number.
bool has_between_digits(std::string_view text, std::string_view between) {
  for (size_t at = text.find(between); at != std::string_view::npos; at = text.find(between, at + 1)) {
    const size_t after = at + between.size();
    if (at > 0 && after < text.size() && kDigits.find(text[at - 1]) != std::string_view::npos &&
        kDigits.find(text[after]) != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace

std::optional<double> real_in(std::string_view text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> whole_in(std::string_view text) {
  if (const auto value = number_in<int64_t>(text)) return value;
  const auto value = real_in(text);
  if (!value || *value != std::floor(*value) || std::fabs(*value) > 0x1p53) return {};
  return static_cast<int64_t>(*value);
}

NumberFault fault_of_number(std::string_view text, bool whole) {
  if (text.empty()) return {"empty", {}};
  if (has_between_digits(text, ","))
    return {"with a comma in a number", "write a point for decimals and nothing between thousands: 1084.5"};
  for (const std::string_view thousands : {" ", "\xC2\xA0", "\xE2\x80\xAF", "'", "_"})
    if (has_between_digits(text, thousands))
      return {"with a character between its digits", "write nothing between thousands: 1084.5"};
  const auto value = number_in<double>(text);
  if (value && !std::isfinite(*value)) return {"not a finite number", {}};
  return {whole ? "not a whole number" : "not a number", {}};
}

}  // namespace stormcell
