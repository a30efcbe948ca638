// What tables of pairs say: which branch follows which, and which branches are chosen together more often than by
// chance.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/profile/loads.h"

namespace stormcell {

/// Shares of fewer cells tell nothing: of a branch whose followers are looked at, and of two branches that were chosen
/// together.
inline constexpr int64_t kFewestPairCells = 20;
/// How many pairs are listed.
inline constexpr size_t kStrongestPairs = 10;

/// P(to | from) = cells / came: up to 1 for each of the k branches that a cell gets at the next router, together k.
struct BranchTransition {
  int32_t from = 0, to = 0;
  int64_t cells = 0;  ///< that got both
  int64_t came = 0;   ///< cells of `from` that came to the next router
  double probability = 0;
  double by_chance = 0;  ///< as many pairs, each side drawn by how many its branches have
  double lift = 0;       ///< cells / by_chance
};

/// Of two routers that follow each other, over branches of which at least kFewestPairCells came to the second.
struct TransitionFigures {
  /// Mean over the cells of the largest P(next | this) of their branch, counted in the cells that it judges: of few of
  /// them too high.
  std::optional<double> likeliest;
  /// the same where one branch is guessed for all: the most that the loads alone tell
  std::optional<double> likeliest_by_load;
  std::vector<BranchTransition> strongest;  ///< largest probability first
};

/// Whether each cell that got a branch of a router got `fan_out` of them: then and only then are there (fan_out - 1) /
/// 2 pairs a choice. `together`: its co-activation, `load`: of its branches without padding.
bool keeps_all_choices(const PairTable& together, std::span<const int64_t> load, int32_t fan_out);

/// Of each branch of a router, its cells that came to the next one. Where that gives each cell all its `next_fan_out`
/// branches (`keeps_all`), pairs / next_fan_out; else pairs do not tell, and all cells of the branch (`load`, without
/// padding) count as come.
std::vector<int64_t> cells_that_came(const PairTable& transitions, std::span<const int64_t> load, int32_t next_fan_out,
                                     bool keeps_all);
TransitionFigures transition_figures(const PairTable& transitions, std::span<const int64_t> came);

/// Two branches that cells got from one router.
struct BranchesTogether {
  int32_t a = 0, b = 0;
  int64_t cells = 0;     ///< that got both
  double by_chance = 0;  ///< as many pairs, each drawn by how many the branches have: one branch, then another one
  double lift = 0;       ///< cells / by_chance
};
/// Those above chance, of at least kFewestPairCells cells, largest lift first.
std::vector<BranchesTogether> strongest_together(const PairTable& together);

}  // namespace stormcell
