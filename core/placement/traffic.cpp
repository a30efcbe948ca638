#include "core/placement/traffic.h"

#include <algorithm>
#include <utility>

namespace stormcell {
namespace {

/// Ranks that tokens of each home go to.
class HomeShares {
 public:
  HomeShares(const Placement& placement, const ReplicaWay& way)
      : ranks_(static_cast<size_t>(placement.ranks)), gpus_per_node_(ranks_ / static_cast<size_t>(way.nodes)) {
    for (const LayerSlots& layer : placement.layers)
      all_.push_back(shares_of(layer, placement.branches, placement.ranks));
    if (way.rule == ReplicaRule::even) return;
    of_home_.resize(all_.size());
    for (size_t l = 0; l < all_.size(); ++l) {
      of_home_[l].resize(all_[l].size());
      for (size_t b = 0; b < all_[l].size(); ++b)
        if (all_[l][b].size() > 1) add_homes(all_[l][b], of_home_[l][b]);
    }
  }

  const BranchShares& all(size_t layer, int32_t branch) const { return all_[layer][branch]; }
  const BranchShares& of(size_t layer, int32_t branch, size_t home) const {
    return by_home(layer, branch) ? of_home_[layer][branch][home] : all(layer, branch);
  }
  BranchShares from_anywhere(size_t layer, int32_t branch) const {
    return by_home(layer, branch) ? nearest_from_anywhere(all(layer, branch), ranks_, gpus_per_node_)
                                  : all(layer, branch);
  }
  bool by_home(size_t layer, int32_t branch) const { return !of_home_.empty() && all(layer, branch).size() > 1; }
  /// Whether where a token goes to depends on its home.
  bool by_home(const TokenRoutes& routes, size_t token) const {
    if (of_home_.empty()) return false;
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t branch : routes.at(token, l))
        if (branch >= 0 && by_home(static_cast<size_t>(l), branch)) return true;
    return false;
  }
  bool is_home(int32_t rank) const { return rank >= 0 && static_cast<size_t>(rank) < ranks_; }
  size_t ranks() const { return ranks_; }

 private:
  void add_homes(const BranchShares& all, std::vector<BranchShares>& out) const {
    out.resize(ranks_);
    for (size_t home = 0; home < ranks_; ++home) find_nearest(all, home, gpus_per_node_, out[home]);
  }

  const size_t ranks_, gpus_per_node_;
  std::vector<std::vector<BranchShares>> all_;  // [layers][branches]
  // [layers][branches][ranks] of the nearest, where there are several
  std::vector<std::vector<std::vector<BranchShares>>> of_home_;
};

}  // namespace

TrafficSums sum_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement,
                        const ReplicaWay& way) {
  const HomeShares shares(placement, way);
  const size_t ranks = shares.ranks();
  TrafficSums sums;
  std::vector<double> here(ranks), before(ranks),
      absent(ranks);  // expected branches on a rank; the chance that none is
  const auto add = [&](size_t t, size_t home, double weight) {
    double k_before = 0;
    for (int32_t l = 0; l < routes.layers; ++l) {
      std::fill(here.begin(), here.end(), 0.), std::fill(absent.begin(), absent.end(), 1.);
      double k = 0;
      for (const int32_t branch : routes.at(t, l)) {
        if (branch < 0) continue;
        ++k;
        for (const auto& [rank, share] : shares.of(static_cast<size_t>(l), branch, home))
          here[rank] += share, absent[rank] *= 1 - share;
      }
      for (size_t r = 0; r < ranks; ++r)
        sums.same += l > 0 ? weight * here[r] * before[r] : 0, sums.distinct += weight * (1 - absent[r]);
      sums.pairs += l > 0 ? weight * k * k_before : 0;
      sums.visits += k > 0 ? weight : 0;
      k_before = k;
      std::swap(here, before);
    }
  };
  for (const size_t t : tokens) {
    const int32_t home = routes.tokens[t].rank;
    if (!shares.by_home(routes, t)) {
      add(t, 0, 1);
    } else if (shares.is_home(home)) {
      add(t, static_cast<size_t>(home), 1);
    } else {
      for (size_t h = 0; h < ranks; ++h) add(t, h, 1 / static_cast<double>(ranks));
    }
  }
  return sums;
}

Traffic count_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement,
                      const ReplicaWay& way) {
  return sum_traffic(routes, tokens, placement, way).traffic();
}

LayerLoads loads_of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens) {
  LayerLoads loads(routes.layers, std::vector<double>(routes.branches));
  for (const size_t t : tokens)
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t branch : routes.at(t, l))
        if (branch >= 0) ++loads[l][branch];
  return loads;
}

std::vector<std::vector<double>> rank_loads_of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens,
                                                      const Placement& placement, const ReplicaWay& way) {
  const HomeShares shares(placement, way);
  const auto layers = static_cast<size_t>(routes.layers), branches = static_cast<size_t>(routes.branches);
  std::vector<std::vector<double>> anywhere(layers, std::vector<double>(branches)),
      out(layers, std::vector<double>(shares.ranks()));
  const auto add = [&](size_t layer, const BranchShares& to, double count) {
    for (const BranchShare& s : to) out[layer][s.rank] += count * s.part;
  };
  for (const size_t t : tokens)
    for (size_t l = 0; l < layers; ++l)
      for (const int32_t branch : routes.at(t, static_cast<int32_t>(l))) {
        if (branch < 0) continue;
        const int32_t home = routes.tokens[t].rank;
        if (shares.by_home(l, branch) && shares.is_home(home))
          add(l, shares.of(l, branch, static_cast<size_t>(home)), 1);
        else
          ++anywhere[l][branch];
      }
  for (size_t l = 0; l < layers; ++l)
    for (size_t b = 0; b < branches; ++b)
      if (anywhere[l][b] > 0) add(l, shares.from_anywhere(l, static_cast<int32_t>(b)), anywhere[l][b]);
  return out;
}

std::vector<std::vector<double>> rank_loads_of_counts(const LayerLoads& loads, const Placement& placement,
                                                      const ReplicaWay& way) {
  const HomeShares shares(placement, way);
  std::vector<std::vector<double>> out(loads.size(), std::vector<double>(shares.ranks()));
  for (size_t l = 0; l < loads.size(); ++l)
    for (size_t b = 0; b < loads[l].size(); ++b)
      for (const BranchShare& s : shares.from_anywhere(l, static_cast<int32_t>(b)))
        out[l][s.rank] += loads[l][b] * s.part;
  return out;
}

}  // namespace stormcell
