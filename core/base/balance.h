// Balance of cells over the branches of a router: figures, each with its formula.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stormcell {

/// max / mean - 1 over the branches: 0 is even, branches - 1 is all in one. 0 without load.
double imbalance(std::span<const int64_t> loads);
/// -sum p log2 p of the loads' shares, in bits; log2(branches) is even.
double entropy_bits(std::span<const int64_t> loads);
/// Gini coefficient sum_ij |x_i - x_j| / (2 n^2 mean): 0 even, 1 - 1/n all in one.
double gini(std::span<const int64_t> loads);
/// Branches with any load.
int32_t touched(std::span<const int64_t> loads);
/// The fewest branches that hold this share of all load, most loaded first, equal loads by the lower id. Empty without
/// load.
std::vector<int32_t> hot_set(std::span<const int64_t> loads, double share);
/// Branches below this part of the mean load, ascending. Empty without load.
std::vector<int32_t> cold_set(std::span<const int64_t> loads, double part_of_mean);

}  // namespace stormcell
