// Values along a line of pixels, with round marks. Pure.
#pragma once
#include <vector>

namespace stormcell::views {

struct ValueAxis {
  double low = 0, high = 1, left = 0, right = 1;

  /// From the least to the largest of `values` with a margin of `share` of the range at both ends, which is never less
  /// than `least`.
  static ValueAxis around(const std::vector<double>& values, double left, double right, double least,
                          double share = 0.08);
  /// Clamped to [left, right].
  double x(double value) const;
  /// Round values inside, at most `most` of them.
  std::vector<double> ticks(int most) const;
  /// Digits after the point that tell neighbouring ticks apart.
  static int decimals(const std::vector<double>& ticks);
};

}  // namespace stormcell::views
