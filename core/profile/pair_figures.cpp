#include "core/profile/pair_figures.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/pair_chance.h"

namespace stormcell {
namespace {

constexpr double kRoundedLift = 1e-9;

int64_t all_choices(std::span<const int64_t> load) { return std::accumulate(load.begin(), load.end(), int64_t{0}); }

/// The first kStrongestPairs of those that `before` puts in order.
template <class Pair, class Before>
void keep_strongest(std::vector<Pair>& pairs, Before before) {
  const auto end = pairs.begin() + std::min(pairs.size(), kStrongestPairs);
  std::partial_sort(pairs.begin(), end, pairs.end(), before);
  pairs.erase(end, pairs.end());
}

}  // namespace

bool keeps_all_choices(const PairTable& together, std::span<const int64_t> load, int32_t fan_out) {
  return 2 * together.total() == (fan_out - 1) * all_choices(load);
}

std::vector<int64_t> cells_that_came(const PairTable& transitions, std::span<const int64_t> load, int32_t next_fan_out,
                                     bool keeps_all) {
  if (!keeps_all) return {load.begin(), load.end()};
  std::vector<int64_t> came(load.size());
  for (const PairCount& pair : transitions.entries) came[pair.from] += pair.count;
  for (int64_t& cells : came) cells /= next_fan_out;
  return came;
}

TransitionFigures transition_figures(const PairTable& transitions, std::span<const int64_t> came) {
  TransitionFigures figures;
  std::vector<int64_t> likeliest(came.size()), to(transitions.columns), pairs_from(came.size()), pairs_to(to.size());
  for (const PairCount& pair : transitions.entries)
    pairs_from[pair.from] += pair.count, pairs_to[pair.to] += pair.count;
  const double pairs = transitions.total();
  for (const PairCount& pair : transitions.entries) {
    const size_t from = pair.from;
    if (came[from] < kFewestPairCells) continue;
    likeliest[from] = std::max(likeliest[from], pair.count);
    to[pair.to] += pair.count;
    const double cells = pair.count;
    const double by_chance =
        following_by_chance(static_cast<double>(pairs_from[from]), static_cast<double>(pairs_to[pair.to]), pairs);
    figures.strongest.push_back({pair.from, pair.to, pair.count, came[from], cells / static_cast<double>(came[from]),
                                 by_chance, cells / by_chance});
  }
  if (figures.strongest.empty()) return figures;
  int64_t all = 0;
  for (const int64_t of_branch : came) all += of_branch < kFewestPairCells ? 0 : of_branch;
  figures.likeliest = static_cast<double>(all_choices(likeliest)) / all;
  figures.likeliest_by_load = static_cast<double>(*std::max_element(to.begin(), to.end())) / all;
  keep_strongest(figures.strongest, [](const BranchTransition& a, const BranchTransition& b) {
    return std::tuple(b.probability, b.cells, a.from, a.to) < std::tuple(a.probability, a.cells, b.from, b.to);
  });
  return figures;
}

std::vector<BranchesTogether> strongest_together(const PairTable& together) {
  std::vector<int64_t> pairs_of(together.rows);
  for (const PairCount& pair : together.entries)
    for (const int32_t branch : {pair.from, pair.to}) pairs_of[branch] += pair.count;
  const double pairs = together.total();
  std::vector<BranchesTogether> strongest;
  for (const PairCount& pair : together.entries) {
    if (pair.count < kFewestPairCells) continue;
    const auto a = static_cast<double>(pairs_of[pair.from]), b = static_cast<double>(pairs_of[pair.to]);
    const double by_chance = together_by_chance(a, b, pairs), lift = static_cast<double>(pair.count) / by_chance;
    if (lift > 1 + kRoundedLift) strongest.push_back({pair.from, pair.to, pair.count, by_chance, lift});
  }
  keep_strongest(strongest, [](const BranchesTogether& x, const BranchesTogether& y) {
    return std::tuple(y.lift, y.cells, x.a, x.b) < std::tuple(x.lift, x.cells, y.a, y.b);
  });
  return strongest;
}

}  // namespace stormcell
