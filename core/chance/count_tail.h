// Tails of counts in closed form: binomial, by the incomplete beta function; of the largest of many; of a normal number.
#pragma once
#include <cstdint>

#include "core/chance/chance_figure.h"

namespace stormcell {

/// P(X >= count) of a binomial of `of` draws with this probability; `of` need not be whole.
double binomial_from(int64_t count, double of, double probability);
/// P(X <= count) of the same, so that a small one has digits.
double binomial_to(int64_t count, double of, double probability);
/// P(|g| >= |z|) of a standard normal number.
double normal_beyond(double z);

/// The largest of `many` independent counts with this mean and variance, which are binomial if the variance is less
/// than the mean, and else Poisson.
struct LargestCount {
  ChanceRange range;
  double mean = 0, variance = 0, third = 0;  ///< third central moment
};
LargestCount largest_count(double mean, double variance, double many);

}  // namespace stormcell
