#include "core/placement/placed_traffic.h"

#include <algorithm>

namespace stormcell {
namespace {

/// The chance that two branches meet a token on one rank.
double overlap(const BranchShares& a, const BranchShares& b) {
  double same = 0;
  for (const BranchShare& x : a)
    for (const BranchShare& y : b)
      if (x.rank == y.rank) same += x.part * y.part;
  return same;
}

}  // namespace

PlacedTraffic::PlacedTraffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start,
                             const ReplicaWay& way)
    : routes_(routes),
      all_(tokens.begin(), tokens.end()),
      ranks_(start.ranks),
      way_(way),
      gpus_per_node_(static_cast<size_t>(start.ranks / way.nodes)),
      tokens_(routes, static_cast<size_t>(start.branches),
              [&](const auto& visit) {
                for (const size_t t : tokens) visit(t, static_cast<uint32_t>(t));
              }),
      absent_(start.ranks, 1) {
  restart(start);
}

void PlacedTraffic::restart(const Placement& placement) {
  shares_.clear();
  for (const LayerSlots& layer : placement.layers)
    shares_.push_back(shares_of(layer, placement.branches, placement.ranks));
  sums_ = sum_traffic(routes_, all_, placement, way_);
}

// Follows one branch after the other: if two move and share a token, each is counted where the other is by then.
void PlacedTraffic::follow(size_t layer, const LayerSlots& slots, std::span<const int32_t> branches) {
  for (const int32_t branch : branches) {
    BranchShares& shares = shares_[layer][branch];
    find_shares(slots, branch, ranks_, next_);
    if (next_ == shares) continue;
    if (way_.rule == ReplicaRule::even) {
      move_branch(layer, branch);
      continue;
    }
    add_pairs(layer, branch, -1), add_ranks(layer, branch, -1);
    shares.swap(next_);
    add_pairs(layer, branch, 1), add_ranks(layer, branch, 1);
  }
}

// No home decides here, so a pair changes alike for all tokens that have it: the change is looked up by the other
// branch. A token's ranks change only where the branch gets more or less.
void PlacedTraffic::move_branch(size_t layer, int32_t branch) {
  move_.begin(shares_[layer], branch, next_, static_cast<size_t>(ranks_));
  const auto weigh = [&](size_t other, std::vector<double>& more) {
    more.clear();
    for (const BranchShares& shares : shares_[other]) more.push_back(move_.meets(shares));
  };
  const bool has_before = layer > 0, has_behind = layer + 1 < shares_.size();
  if (has_before) weigh(layer - 1, before_);
  if (has_behind) weigh(layer + 1, behind_);
  double same = 0, distinct = 0;
  for (const uint32_t t : tokens_.of(layer, static_cast<size_t>(branch))) {
    move_.look(routes_.at(t, static_cast<int32_t>(layer)));
    for (size_t i = 0; i < move_.places(); ++i) distinct += move_.comes(i);
    double pairs = 0;
    const auto add = [&](size_t other, const std::vector<double>& more) {
      for (const int32_t b : routes_.at(t, static_cast<int32_t>(other)))
        if (b >= 0) pairs += more[b];
    };
    if (has_before) add(layer - 1, before_);
    if (has_behind) add(layer + 1, behind_);
    same += move_.times() * pairs;
  }
  sums_.same += same, sums_.distinct += distinct;
  shares_[layer][branch].swap(next_);
}

void PlacedTraffic::add_pairs(size_t layer, int32_t branch, double sign) {
  const BranchShares& mine = shares_[layer][branch];
  double same = 0;
  for (const uint32_t t : tokens_.of(layer, static_cast<size_t>(branch))) {
    const auto mine_in = routes_.at(t, static_cast<int32_t>(layer));
    const double times = std::count(mine_in.begin(), mine_in.end(), branch);
    const auto beside = [&](size_t other) {
      for (const int32_t b : routes_.at(t, static_cast<int32_t>(other)))
        if (b >= 0) same += times * same_rank(t, mine, shares_[other][b]);
    };
    if (layer > 0) beside(layer - 1);
    if (layer + 1 < shares_.size()) beside(layer + 1);
  }
  sums_.same += sign * same;
}

void PlacedTraffic::add_ranks(size_t layer, int32_t branch, double sign) {
  double distinct = 0;
  for (const uint32_t t : tokens_.of(layer, static_cast<size_t>(branch))) distinct += distinct_ranks(t, layer);
  sums_.distinct += sign * distinct;
}

template <class Visit>
double PlacedTraffic::over_homes(size_t token, Visit&& visit) const {
  const int32_t home = routes_.tokens[token].rank;
  if (home >= 0 && home < ranks_) return visit(static_cast<size_t>(home));
  double sum = 0;
  for (size_t h = 0; h < static_cast<size_t>(ranks_); ++h) sum += visit(h);
  return sum / ranks_;
}

double PlacedTraffic::same_rank(size_t token, const BranchShares& a, const BranchShares& b) {
  if (!by_home(a) && !by_home(b)) return overlap(a, b);
  return over_homes(token, [&](size_t home) {
    find_nearest(a, home, gpus_per_node_, near_), find_nearest(b, home, gpus_per_node_, near_too_);
    return overlap(near_, near_too_);
  });
}

double PlacedTraffic::distinct_ranks(size_t token, size_t layer) {
  for (const int32_t b : routes_.at(token, static_cast<int32_t>(layer)))
    if (b >= 0 && by_home(shares_[layer][b]))
      return over_homes(token, [&](size_t home) { return distinct_ranks_from(token, layer, home); });
  return distinct_ranks_from(token, layer, 0);
}

double PlacedTraffic::distinct_ranks_from(size_t token, size_t layer, size_t home) {
  touched_.clear();
  for (const int32_t b : routes_.at(token, static_cast<int32_t>(layer))) {
    if (b < 0) continue;
    const BranchShares& all = shares_[layer][b];
    if (by_home(all)) find_nearest(all, home, gpus_per_node_, near_);
    for (const BranchShare& s : by_home(all) ? near_ : all) {
      if (absent_[s.rank] == 1) touched_.push_back(s.rank);
      absent_[s.rank] *= 1 - s.part;
    }
  }
  double distinct = 0;
  for (const size_t r : touched_) distinct += 1 - absent_[r], absent_[r] = 1;
  return distinct;
}

}  // namespace stormcell
