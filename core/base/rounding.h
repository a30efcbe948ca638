// Differences that only the rounding of sums makes.
#pragma once
#include <cmath>

namespace stormcell {

/// 0 for a difference of two nearly equal figures, as a share of them, that sums in another order could make;
/// otherwise the difference itself.
inline double without_rounding(double difference) {
  constexpr double kRounding = 1e-12;
  return std::fabs(difference) < kRounding ? 0 : difference;
}

}  // namespace stormcell
