// How far two lists of numbers are apart.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace stormcell::testing {

/// The largest |a - b| over the largest |b|. Infinite where they are not equally many, or where one of two numbers is
/// NaN or infinite and the other is not the same: a comparison with NaN would be false, and a maximum would lose it.
template <class A, class B>
double relative_difference(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return INFINITY;
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (x == y && std::isinf(x)) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    difference = std::max(difference, std::fabs(x - y));
    size = std::max(size, std::fabs(y));
  }
  return difference == 0 ? 0 : difference / size;
}

}  // namespace stormcell::testing
