// Sine and cosine of an angle in f32. CUDA's own reduce large angles by a table in local memory, which a kernel would
// pay for at every launch; the angles of rotary embedding are as large as the places of a sequence.
#pragma once
#include <cmath>
#include <cstdint>

#include "gpu/base/annotations.h"

namespace stormcell::gpu {

struct SineAndCosine {
  float sine = 0, cosine = 0;
};

/// Exact to a little over half a unit of the last place of f32, for angles below 2^33.
STORMCELL_BOTH inline SineAndCosine sine_and_cosine(float angle) {
  // Half pi in two pieces: the rest of an angle is exact to 2^-53, however often half pi goes into it.
  constexpr double kHalfPi = 1.5707963267948966, kHalfPiRest = 6.123233995736766e-17;
  const double times = rint(static_cast<double>(angle) * (1 / kHalfPi));
  const double x = fma(-times, kHalfPiRest, fma(-times, kHalfPi, static_cast<double>(angle)));
  const int quarter = static_cast<int>(static_cast<int64_t>(times) & 3);
  // Taylor's series: |x| is at most pi / 4, so the omitted terms are below 1e-12.
  const double s = x * x;
  const double sine =
      x *
      (1 - s * (1.0 / 6) *
               (1 - s * (1.0 / 20) *
                        (1 - s * (1.0 / 42) * (1 - s * (1.0 / 72) * (1 - s * (1.0 / 110) * (1 - s * (1.0 / 156)))))));
  const double cosine =
      1 - s * (1.0 / 2) *
              (1 - s * (1.0 / 12) *
                       (1 - s * (1.0 / 30) *
                                (1 - s * (1.0 / 56) *
                                         (1 - s * (1.0 / 90) * (1 - s * (1.0 / 132) * (1 - s * (1.0 / 182)))))));
  const double first = quarter % 2 == 0 ? sine : cosine, second = quarter % 2 == 0 ? cosine : sine;
  return {static_cast<float>(quarter >= 2 ? -first : first),
          static_cast<float>(quarter == 1 || quarter == 2 ? -second : second)};
}

}  // namespace stormcell::gpu
