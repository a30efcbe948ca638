// rotary: rotates the halves of each head by the place of its cell.
#pragma once
#include <cmath>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void rotary(const Call<Scalar>& c) {
  const int64_t heads = c.attributes().integer("heads"), rows = c.rows(0), width = c.width(0), dim = width / heads,
                half = dim / 2;
  using Angle = Coordinate<Scalar>;
  const auto theta = static_cast<Angle>(c.attributes().real("theta"));
  const auto& places = c.in(1).integers;
  std::vector<Angle> frequency(half);
  for (int64_t i = 0; i < half; ++i)
    frequency[i] = Angle(1) / std::pow(theta, static_cast<Angle>(2 * i) / static_cast<Angle>(dim));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < half; ++i) {
      const Angle angle = static_cast<Angle>(places[r]) * frequency[i];
      const auto cosine = static_cast<Scalar>(std::cos(angle)), sine = static_cast<Scalar>(std::sin(angle));
      for (int64_t h = 0; h < heads; ++h) {
        const Scalar* x = c.in(0).reals.data() + r * width + h * dim;
        Scalar* y = c.out().reals.data() + r * width + h * dim;
        y[i] = x[i] * cosine - x[i + half] * sine;
        y[i + half] = x[i + half] * cosine + x[i] * sine;
      }
    }
}

}  // namespace stormcell::reference
