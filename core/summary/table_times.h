// Times that are printed beside each other.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// Times of one table, or of what is compared with it, in one unit, without an exponent: microseconds where none of
/// them reaches 0.1 ms.
class TableTimes {
 public:
  explicit TableTimes(const std::vector<double>& ms);
  bool in_us() const { return in_us_; }
  std::string unit() const { return in_us_ ? "us" : "ms"; }
  std::string text(double ms) const;
  std::string text(const std::optional<double>& ms) const;  ///< "-" where there is none

 private:
  bool in_us_ = false;
};

}  // namespace stormcell
