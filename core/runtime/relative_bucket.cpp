#include "core/runtime/relative_bucket.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stormcell {

int relative_bucket(int relative_position, bool bidirectional, int buckets, int max_distance) {
  int bucket = 0, distance = 0;
  if (bidirectional) {
    buckets /= 2;
    if (relative_position > 0) bucket = buckets;
    distance = std::abs(relative_position);
  } else {
    distance = std::max(0, -relative_position);
  }
  const int exact = buckets / 2;
  if (distance < exact) return bucket + distance;
  if (distance >= max_distance) return bucket + buckets - 1;  // the formula gives this; no logarithm is needed
  // The quotient of logarithms is f32, the divisor double rounded to f32, as torch computes it.
  const float logarithm = std::log(static_cast<float>(distance) / static_cast<float>(exact));
  const float divisor = static_cast<float>(std::log(static_cast<double>(max_distance) / exact));
  const int large = exact + static_cast<int>(logarithm / divisor * static_cast<float>(buckets - exact));
  return bucket + std::min(large, buckets - 1);
}

}  // namespace stormcell
