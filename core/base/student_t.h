// Student's t: how much wider an interval is where its deviation was estimated from few values.
#pragma once
#include <cmath>

namespace stormcell {

/// Deviations that contain the middle 95 % on both sides, for an estimate with so many degrees of freedom; 1.96 for
/// infinitely many. By Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5): within 0.03 for three degrees,
/// 0.01 from four on, 0.002 from six. For one and two degrees the expansion is too small, so their closed forms are
/// used.
inline double student_t_95(double degrees) {
  constexpr double z = 1.959964;
  if (degrees <= 1) return 12.706205;
  if (degrees <= 2) return 4.302653;
  const double v = degrees;
  return z + (std::pow(z, 3) + z) / (4 * v) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * v * v) +
         (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / (384 * v * v * v);
}

}  // namespace stormcell
