// Statistics of loads and decisions: plain functions, each with its formula.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/balance.h"
#include "core/profile/loads.h"
#include "core/profile/pair_counter.h"
#include "core/profile/record.h"

namespace stormcell {

/// Mutual information of a table of counts [rows, columns], in bits: how much the row (a label) tells about the column
/// (a branch). No correction for small samples: a table of few counts looks informative.
double mutual_information_bits(std::span<const int64_t> table, int64_t rows, int64_t columns);

/// Adds one decision to `loads` (as one batch) and checks that every choice is a branch: Error(failed) otherwise.
/// `mask` is that of the decision's space, empty where all cells are real. Returns how many of the decision's cells are
/// real.
int64_t add_loads(const DecisionRecord& decision, int32_t fan_out, std::span<const uint8_t> mask, RouterLoads& loads);

/// Counts transitions from one decision to a next one of the same cell space; the batch's rows match the cells. Every
/// pair of kept choices counts, k x k for each cell; padding does not. `branches`: one flag for each branch of the
/// first decision, set if its cells come to the second; empty: all do. `scratch` is kept between calls.
struct DecisionOfRouter {
  const DecisionRecord& decision;
  int32_t fan_out;
};
void add_transitions(DecisionOfRouter from, DecisionOfRouter to, std::span<const uint8_t> branches,
                     std::span<const uint8_t> mask, std::vector<int32_t>& scratch, PairCounter& counts);
/// The same, but only choices of equal rank make a pair: at most k for each cell. Published matrices between two layers
/// count so (OLMoE, scripts/run_routing_analysis.py).
void add_equal_ranks(DecisionOfRouter from, DecisionOfRouter to, std::span<const uint8_t> mask,
                     std::vector<int32_t>& scratch, PairCounter& counts);
/// Pairs i < j of kept choices of one cell; padding does not count.
void add_coactivation(DecisionOfRouter decision, std::span<const uint8_t> mask, PairCounter& counts);
/// The same, but only choices that follow each other by rank make a pair: at most k - 1 of k (k - 1) / 2. Published
/// matrices of co-activation count so (OLMoE, scripts/run_moe_analysis.py).
void add_rank_neighbours(DecisionOfRouter decision, std::span<const uint8_t> mask, PairCounter& counts);

/// Windows of the pyramid: level l has windows of 4^l batches.
inline constexpr int32_t kWindowBits = 2;
inline constexpr int64_t kMostCoarseWindows = 256;
inline int64_t window_of(int64_t batch, int32_t level) { return batch >> (kWindowBits * level); }
inline int64_t window_count(int64_t batches, int32_t level) {
  return batches == 0 ? 0 : window_of(batches - 1, level) + 1;
}
/// The coarsest level that is worth showing: the first with at most 256 windows.
int32_t coarsest_level(int64_t batches);

}  // namespace stormcell
