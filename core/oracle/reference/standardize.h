// standardize: (x - mean) / deviation of each channel, channels last.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void standardize(const Call<Scalar>& c) {
  const std::vector<Scalar> mean = c.whole(1), deviation = c.whole(2);
  const std::vector<Scalar>& x = c.in(0).reals;
  for (size_t i = 0; i < x.size(); ++i) c.out().reals[i] = (x[i] - mean[i % mean.size()]) / deviation[i % mean.size()];
}

}  // namespace stormcell::reference
