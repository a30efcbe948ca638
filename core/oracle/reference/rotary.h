// rotary: rotates the halves of each head by the place of its cell.
#pragma once
#include <cmath>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void rotary(const Call<Scalar>& c) {
  const int64_t heads = c.attributes().integer("heads"), rows = c.rows(0), width = c.width(0), dim = width / heads, half = dim / 2;
  const auto theta = static_cast<Scalar>(c.attributes().real("theta"));
  const auto& places = c.in(1).integers;
  std::vector<Scalar> frequency(static_cast<size_t>(half));
  for (int64_t i = 0; i < half; ++i)
    frequency[static_cast<size_t>(i)] = Scalar(1) / std::pow(theta, static_cast<Scalar>(2 * i) / static_cast<Scalar>(dim));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < half; ++i) {
      const Scalar angle = static_cast<Scalar>(places[static_cast<size_t>(r)]) * frequency[static_cast<size_t>(i)];
      const Scalar cosine = std::cos(angle), sine = std::sin(angle);
      for (int64_t h = 0; h < heads; ++h) {
        const Scalar* x = c.in(0).reals.data() + r * width + h * dim;
        Scalar* y = c.out().reals.data() + r * width + h * dim;
        y[i] = x[i] * cosine - x[i + half] * sine;
        y[i + half] = x[i + half] * cosine + x[i] * sine;
      }
    }
}

}  // namespace stormcell::reference
