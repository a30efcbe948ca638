// rms_norm: x / sqrt(mean(x^2) + eps) * gain, head by head.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void normalize_rows(const Scalar* x, int64_t rows, int64_t width, const Scalar* gain, Scalar eps, Scalar* y) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    Scalar partial[8] = {};
    for (int64_t i = 0; i < width; ++i) partial[i % 8] += x[i] * x[i];
    Scalar sum = 0;
    for (const Scalar p : partial) sum += p;
    const Scalar factor = Scalar(1) / sqrt(sum / static_cast<Scalar>(width) + eps);
    for (int64_t i = 0; i < width; ++i) y[i] = x[i] * factor * gain[i];
  }
}

template <class Scalar>
void rms_norm(const Call<Scalar>& c) {
  const std::vector<Scalar> gain = c.whole(1);
  const auto eps = static_cast<Scalar>(c.attributes().real("eps"));
  const int64_t heads = c.attributes().integer("heads", 1), width = c.out_width() / heads;
  const Scalar* x = c.in(0).reals.data();
  Scalar* y = c.out().reals.data();
  c.team.split(c.rows(0) * heads, 8, [&](int64_t begin, int64_t end, int) {
    normalize_rows(x + begin * width, end - begin, width, gain.data(), eps, y + begin * width);
  });
}

}  // namespace stormcell::reference
