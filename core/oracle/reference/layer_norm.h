// layer_norm: (x - mean) / sqrt(variance + eps) * gain + bias.
#pragma once
#include <cmath>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void layer_norm(const Call<Scalar>& c) {
  const std::vector<Scalar> gain = c.whole(1), bias = c.whole(2);
  const auto eps = static_cast<Scalar>(c.attributes().real("eps"));
  const int64_t width = c.out_width();
  c.team.split(c.rows(0), 8, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      const Scalar* x = c.in(0).reals.data() + r * width;
      Scalar* y = c.out().reals.data() + r * width;
      Scalar sum = 0, squares = 0;
      for (int64_t i = 0; i < width; ++i) sum += x[i];
      const Scalar mean = sum / static_cast<Scalar>(width);
      for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
      const Scalar deviation = std::sqrt(squares / static_cast<Scalar>(width) + eps);
      for (int64_t i = 0; i < width; ++i) y[i] = (x[i] - mean) / deviation * gain[static_cast<size_t>(i)] + bias[static_cast<size_t>(i)];
    }
  });
}

}  // namespace stormcell::reference
