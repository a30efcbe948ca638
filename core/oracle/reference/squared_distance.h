// squared_distance: the squared distances of rows from centres.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void squared_distance(const Call<Scalar>& c) {
  const std::vector<Scalar> centres = c.whole(1);
  const int64_t d = c.type(0).content[0].constant(), k = c.type(1).content[0].constant();
  const bool reciprocal = flag_of(c.node, "reciprocal");
  for (int64_t r = 0; r < c.rows(0); ++r)
    for (int64_t i = 0; i < k; ++i) {
      Scalar sum = 0;
      for (int64_t j = 0; j < d; ++j) {
        const Scalar apart = c.in(0).reals[r * d + j] - centres[i * d + j];
        sum += apart * apart;
      }
      c.out().reals[r * k + i] = reciprocal ? 1 / at_least(sum, Scalar(1e-30)) : sum;
    }
}

}  // namespace stormcell::reference
