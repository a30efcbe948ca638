// Numbers from users, within bounds, with one wording of errors.
#pragma once
#include <limits>
#include <string>
#include <string_view>

namespace stormcell {

/// A range that includes both ends.
struct Bounds {
  double least = 0, most = std::numeric_limits<double>::infinity();
};

/// Throws Error(bad_input) that names the option: "5x" does not fit (give `expected`).
[[noreturn]] void does_not_fit(std::string_view option, std::string_view word, const std::string& expected);

/// The number in the word, of type int, int64_t, uint64_t or double. Throws as does_not_fit() if the whole word is no
/// number, or the number is outside of the bounds or not finite.
template <class T>
T bounded_number(std::string_view option, std::string_view word, const Bounds& bounds);
/// Throws the same if an existing number is outside.
template <class T>
void check_bounds(std::string_view option, T value, const Bounds& bounds);

}  // namespace stormcell
