#include "core/profile/pair_figures.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stormcell {
namespace {

constexpr double kRoundedLift = 1e-9;

int64_t all_choices(std::span<const int64_t> load) { return std::accumulate(load.begin(), load.end(), int64_t{0}); }

/// The first kStrongestPairs of those that `before` puts in order.
template <class Pair, class Before>
void keep_strongest(std::vector<Pair>& pairs, Before before) {
  const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(std::min(pairs.size(), kStrongestPairs));
  std::partial_sort(pairs.begin(), end, pairs.end(), before);
  pairs.erase(end, pairs.end());
}

}  // namespace

bool keeps_all_choices(const PairTable& together, std::span<const int64_t> load, int32_t fan_out) {
  return 2 * together.total() == (fan_out - 1) * all_choices(load);
}

std::vector<int64_t> cells_that_came(const PairTable& transitions, std::span<const int64_t> load, int32_t next_fan_out, bool keeps_all) {
  if (!keeps_all) return {load.begin(), load.end()};
  std::vector<int64_t> came(load.size());
  for (const PairCount& pair : transitions.entries) came[static_cast<size_t>(pair.from)] += pair.count;
  for (int64_t& cells : came) cells /= next_fan_out;
  return came;
}

TransitionFigures transition_figures(const PairTable& transitions, std::span<const int64_t> came) {
  TransitionFigures figures;
  std::vector<int64_t> likeliest(came.size()), to(static_cast<size_t>(transitions.columns));
  for (const PairCount& pair : transitions.entries) {
    const auto from = static_cast<size_t>(pair.from);
    if (came[from] < kFewestPairCells) continue;
    likeliest[from] = std::max(likeliest[from], pair.count);
    to[static_cast<size_t>(pair.to)] += pair.count;
    figures.strongest.push_back(
        {pair.from, pair.to, pair.count, came[from], static_cast<double>(pair.count) / static_cast<double>(came[from])});
  }
  if (figures.strongest.empty()) return figures;
  int64_t cells = 0;
  for (const int64_t of_branch : came) cells += of_branch < kFewestPairCells ? 0 : of_branch;
  figures.likeliest = static_cast<double>(all_choices(likeliest)) / static_cast<double>(cells);
  figures.likeliest_by_load = static_cast<double>(*std::max_element(to.begin(), to.end())) / static_cast<double>(cells);
  keep_strongest(figures.strongest, [](const BranchTransition& a, const BranchTransition& b) {
    return std::tuple(b.probability, b.cells, a.from, a.to) < std::tuple(a.probability, a.cells, b.from, b.to);
  });
  return figures;
}

std::vector<BranchesTogether> strongest_together(const PairTable& together, std::span<const int64_t> load) {
  const auto all = static_cast<double>(all_choices(load)), pairs = static_cast<double>(together.total());
  std::vector<BranchesTogether> strongest;
  for (const PairCount& pair : together.entries) {
    if (pair.count < kFewestPairCells) continue;
    const auto a = static_cast<double>(load[static_cast<size_t>(pair.from)]), b = static_cast<double>(load[static_cast<size_t>(pair.to)]);
    if (a <= 0 || b <= 0 || a >= all || b >= all) continue;  // loads that do not fit their pairs: of a run that was killed
    const double by_chance = pairs * a * b / all * (1 / (all - a) + 1 / (all - b)), lift = static_cast<double>(pair.count) / by_chance;
    if (lift > 1 + kRoundedLift) strongest.push_back({pair.from, pair.to, pair.count, by_chance, lift});
  }
  keep_strongest(strongest, [](const BranchesTogether& x, const BranchesTogether& y) {
    return std::tuple(y.lift, y.cells, x.a, x.b) < std::tuple(x.lift, x.cells, y.a, y.b);
  });
  return strongest;
}

}  // namespace stormcell
