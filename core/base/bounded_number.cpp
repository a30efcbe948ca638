#include "core/base/bounded_number.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/base/error.h"

namespace stormcell {
namespace {

std::string shown(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

/// "a whole number from 1 to 1024", "a number from 0 on".
template <class T>
std::string expected(const Bounds& bounds) {
  const std::string what = std::is_floating_point_v<T> ? "a number" : "a whole number";
  return what + " from " + shown(bounds.least) + (std::isinf(bounds.most) ? " on" : " to " + shown(bounds.most));
}

template <class T>
bool is_within(T value, const Bounds& bounds) {
  const double real = value;
  return std::isfinite(real) && real >= bounds.least && real <= bounds.most;
}

}  // namespace

void does_not_fit(std::string_view option, std::string_view word, const std::string& expected) {
  bad_input(option, "\"" + std::string(word) + "\" does not fit", "give " + expected);
}

template <class T>
T bounded_number(std::string_view option, std::string_view word, const Bounds& bounds) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !is_within(value, bounds))
    does_not_fit(option, word, expected<T>(bounds));
  return value;
}

template <class T>
void check_bounds(std::string_view option, T value, const Bounds& bounds) {
  char text[32];
  if (!is_within(value, bounds))
    does_not_fit(option, {text, std::to_chars(text, text + sizeof(text), value).ptr}, expected<T>(bounds));
}

template int bounded_number(std::string_view, std::string_view, const Bounds&);
template int64_t bounded_number(std::string_view, std::string_view, const Bounds&);
template uint64_t bounded_number(std::string_view, std::string_view, const Bounds&);
template double bounded_number(std::string_view, std::string_view, const Bounds&);
template void check_bounds(std::string_view, int, const Bounds&);
template void check_bounds(std::string_view, int64_t, const Bounds&);
template void check_bounds(std::string_view, uint64_t, const Bounds&);
template void check_bounds(std::string_view, double, const Bounds&);

}  // namespace stormcell
