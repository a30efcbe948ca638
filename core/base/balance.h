// How evenly cells are spread over the branches of a router: the figures of balance, each with its formula.
#pragma once
#include <cstdint>
#include <span>

namespace stormcell {

/// max / mean - 1 over the branches: 0 is even, branches - 1 is all in one. 0 without load.
double imbalance(std::span<const int64_t> loads);
/// -sum p log2 p of the loads' shares, in bits; log2(branches) is even.
double entropy_bits(std::span<const int64_t> loads);
/// Gini coefficient sum_ij |x_i - x_j| / (2 n^2 mean): 0 even, 1 - 1/n all in one.
double gini(std::span<const int64_t> loads);
/// Branches with any load.
int32_t touched(std::span<const int64_t> loads);

}  // namespace stormcell
