// Figures from tables of pairs: which branch follows which, and which branches are chosen together more often than by
// chance.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/profile/loads.h"

namespace stormcell {

/// Shares of fewer cells mean nothing, neither for the successors of a branch nor for two branches chosen together.
inline constexpr int64_t kFewestPairCells = 20;
/// Number of pairs that are listed.
inline constexpr size_t kStrongestPairs = 10;

/// P(to | from) = cells / came: up to 1 for each of the k branches that a cell gets at the next router, together k.
struct BranchTransition {
  int32_t from = 0, to = 0;
  int64_t cells = 0;  ///< cells that got both
  int64_t came = 0;   ///< cells of `from` that came to the next router
  double probability = 0;
  double by_chance = 0;  ///< expected from the loads of both sides alone
  double lift = 0;       ///< cells / by_chance
};

/// Figures for two routers in succession, over branches with at least kFewestPairCells cells at the second.
struct TransitionFigures {
  /// Mean over the cells of their branch's largest P(next | this). It is fitted and judged on the same cells, so it is
  /// too high for few of them.
  std::optional<double> likeliest;
  /// the same with one guess for all branches: the most that loads alone can predict
  std::optional<double> likeliest_by_load;
  std::vector<BranchTransition> strongest;  ///< largest probability first
};

/// True if each cell that got a branch got `fan_out` of them; only then a choice has (fan_out - 1) / 2 pairs.
/// `together`: the router's co-activation, `load`: its loads without padding.
bool keeps_all_choices(const PairTable& together, std::span<const int64_t> load, int32_t fan_out);

/// The cells of each branch that came to the next router. If that router gives each cell `next_fan_out` branches
/// (`keeps_all`), these are pairs / next_fan_out. Otherwise pairs do not show it, and all cells of the branch count
/// (`load`, without padding).
std::vector<int64_t> cells_that_came(const PairTable& transitions, std::span<const int64_t> load, int32_t next_fan_out,
                                     bool keeps_all);
TransitionFigures transition_figures(const PairTable& transitions, std::span<const int64_t> came);

/// Two branches that cells got from one router.
struct BranchesTogether {
  int32_t a = 0, b = 0;
  int64_t cells = 0;     ///< cells that got both
  double by_chance = 0;  ///< expected from the loads alone: one branch, then another one
  double lift = 0;       ///< cells / by_chance
};
/// Pairs above chance with at least kFewestPairCells cells, largest lift first.
std::vector<BranchesTogether> strongest_together(const PairTable& together);

}  // namespace stormcell
