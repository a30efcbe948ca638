// layer_norm: (x - mean) / sqrt(variance + eps) * gain + bias.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

/// Rows at x, `width` numbers each, to y.
template <class Scalar>
void layer_norm_rows(const Call<Scalar>& c, const Scalar* x, int64_t rows, size_t gain_input, size_t bias_input,
                     Scalar* y) {
  const std::vector<Scalar> gain = c.whole(gain_input), bias = c.whole(bias_input);
  const auto eps = static_cast<Scalar>(c.attributes().real("eps"));
  const int64_t width = c.out_width();
  c.team.split(rows, 8, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      const Scalar* from = x + r * width;
      Scalar* to = y + r * width;
      Scalar sum = 0, squares = 0;
      for (int64_t i = 0; i < width; ++i) sum += from[i];
      const Scalar mean = sum / static_cast<Scalar>(width);
      for (int64_t i = 0; i < width; ++i) squares += (from[i] - mean) * (from[i] - mean);
      const Scalar deviation = sqrt(squares / static_cast<Scalar>(width) + eps);
      for (int64_t i = 0; i < width; ++i) to[i] = (from[i] - mean) / deviation * gain[i] + bias[i];
    }
  });
}

template <class Scalar>
void layer_norm(const Call<Scalar>& c) {
  layer_norm_rows(c, c.in(0).reals.data(), c.rows(0), 1, 2, c.out().reals.data());
}

}  // namespace stormcell::reference
