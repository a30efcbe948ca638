#include "core/placement/layer_tally.h"

#include <algorithm>
#include <cmath>

#include "core/profile/token_routes.h"

namespace stormcell {
namespace {

double tiles_of(double rows) { return std::ceil(rows / kRowTile - 1e-9); }

/// The expected tiles over the turns of replicas: so many rows or one more, such that `rows` is their mean.
double tiles_by_turns(double rows) {
  const double fewer = std::floor(rows), one_more = rows - fewer;
  return one_more * tiles_of(fewer + 1) + (1 - one_more) * tiles_of(fewer);
}

/// One more slot of a branch, on this rank: slots ascend, so ranks do.
void add_slot(size_t rank, BranchShares& shares) {
  if (shares.empty() || shares.back().rank != rank) shares.push_back({rank, 0});
  ++shares.back().part;
}

/// Slots are counted, then divided: a sum of shares may exceed 1, and powers of what is left of that are no numbers.
void divide(BranchShares& shares) {
  double replicas = 0;
  for (const BranchShare& share : shares) replicas += share.part;
  for (BranchShare& share : shares) share.part /= replicas;
}

}  // namespace

std::vector<BranchShares> shares_of(const LayerSlots& layer, int32_t branches, int32_t ranks) {
  const size_t slots_per_rank = layer.size() / static_cast<size_t>(ranks);
  std::vector<BranchShares> shares(branches);
  for (size_t s = 0; s < layer.size(); ++s)
    if (layer[s] >= 0) add_slot(s / slots_per_rank, shares[layer[s]]);
  for (BranchShares& of_branch : shares) divide(of_branch);
  return shares;
}

void find_shares(const LayerSlots& layer, int32_t branch, int32_t ranks, BranchShares& shares) {
  const size_t slots_per_rank = layer.size() / static_cast<size_t>(ranks);
  shares.clear();
  for (size_t s = 0; s < layer.size(); ++s)
    if (layer[s] == branch) add_slot(s / slots_per_rank, shares);
  divide(shares);
}

void find_nearest(const BranchShares& all, size_t home, size_t gpus_per_node, BranchShares& nearest) {
  nearest.clear();
  double here = 0;
  for (const BranchShare& s : all) {
    if (s.rank == home) {
      nearest.assign(1, {home, 1});
      return;
    }
    if (s.rank / gpus_per_node == home / gpus_per_node) nearest.push_back(s), here += s.part;
  }
  if (nearest.empty()) nearest = all;
  if (here > 0)
    for (BranchShare& s : nearest) s.part /= here;
}

BranchShares nearest_from_anywhere(const BranchShares& all, size_t ranks, size_t gpus_per_node) {
  if (all.size() < 2) return all;
  BranchShares out = all, nearest;
  for (BranchShare& s : out) s.part = 0;
  for (size_t home = 0; home < ranks; ++home) {
    find_nearest(all, home, gpus_per_node, nearest);
    for (const BranchShare& n : nearest)
      std::find_if(out.begin(), out.end(), [&](const BranchShare& s) { return s.rank == n.rank; })->part +=
          n.part / static_cast<double>(ranks);
  }
  return out;
}

void BranchMove::begin(const std::vector<BranchShares>& shares, int32_t branch, const BranchShares& next, size_t ranks,
                       size_t ranks_of_place) {
  const size_t all = ranks / ranks_of_place;
  branch_ = branch;
  before_of_.assign(all, 0), after_of_.assign(all, 0), index_.assign(all, kSame);
  for (const BranchShare& s : shares[branch]) before_of_[s.rank / ranks_of_place] += s.part;
  for (const BranchShare& s : next) after_of_[s.rank / ranks_of_place] += s.part;
  place_.clear(), before_.clear(), after_.clear();
  for (size_t p = 0; p < all; ++p) {
    if (before_of_[p] == after_of_[p]) continue;
    index_[p] = place_.size();
    place_.push_back(p);
    // Shares of a node may sum to a little more than 1.
    before_.push_back(std::min(before_of_[p], 1.)), after_.push_back(std::min(after_of_[p], 1.));
  }
  // Counted by branch and not by token: many tokens choose the same others.
  const size_t n = place_.size();
  absent_.assign(shares.size() * n, 1);
  for (size_t b = 0; b < shares.size(); ++b)
    for (const BranchShare& s : shares[b])
      if (const size_t i = index_[s.rank / ranks_of_place]; i != kSame && b != static_cast<size_t>(branch))
        absent_[b * n + i] -= s.part;
  for (double& a : absent_) a = std::max(a, 0.);
  comes_.assign(n, 0);
}

void BranchMove::look(std::span<const int32_t> choices) {
  const size_t n = place_.size();
  std::fill(comes_.begin(), comes_.end(), 1.);
  int times = 0;
  for (const int32_t choice : choices) {
    if (choice < 0) continue;
    times += choice == branch_;
    const double* absent = absent_.data() + static_cast<size_t>(choice) * n;
    for (size_t i = 0; i < n; ++i) comes_[i] *= absent[i];
  }
  times_ = times;
  for (size_t i = 0; i < n; ++i)
    comes_[i] *= times == 1 ? after_[i] - before_[i] : std::pow(1 - before_[i], times) - std::pow(1 - after_[i], times);
}

double BranchMove::meets(const BranchShares& other) const {
  double more = 0;
  for (const BranchShare& s : other)
    if (const size_t i = index_[s.rank]; i != kSame) more += (after_[i] - before_[i]) * s.part;
  return more;
}

TallyRule::TallyRule(int32_t ranks, int32_t nodes, Backend backend,
                     std::shared_ptr<const std::vector<double>> rank_cost, ReplicaRule replicas,
                     std::shared_ptr<const RowCurve> expert_curve)
    : backend_(backend),
      ranks_(static_cast<size_t>(ranks)),
      gpus_per_node_(static_cast<size_t>(ranks / nodes)),
      rank_cost_(std::move(rank_cost)),
      replicas_(replicas),
      expert_curve_(std::move(expert_curve)),
      whole_(ranks_),
      of_node_(nodes),
      copies_(ranks_),
      absent_(ranks_, 1),
      absent_node_(nodes, 1),
      rows_(ranks_) {}

void TallyRule::add_token(LayerTally& tally, const std::vector<BranchShares>& shares, std::span<const int32_t> choices,
                          int32_t home, double sign) {
  const auto all = [&](int32_t choice) -> const BranchShares& { return shares[choice]; };
  if (replicas_ == ReplicaRule::even || backend_ == Backend::gather) return add_chosen(tally, choices, all, home, sign);
  const auto add_from = [&](int32_t from, double part) {
    const auto nearest = [&](int32_t choice) -> const BranchShares& {
      find_nearest(all(choice), static_cast<size_t>(from), gpus_per_node_, near_);
      return near_;
    };
    add_chosen(tally, choices, nearest, from, part);
  };
  if (home >= 0) return add_from(home, sign);
  // Without replicas every home sends to the same ranks.
  if (std::none_of(choices.begin(), choices.end(),
                   [&](int32_t choice) { return choice >= 0 && all(choice).size() > 1; }))
    return add_chosen(tally, choices, all, home, sign);
  for (size_t from = 0; from < ranks_; ++from) add_from(static_cast<int32_t>(from), sign / static_cast<double>(ranks_));
}

void TallyRule::add_following(LayerTally& tally, const std::vector<BranchShares>& shares,
                              std::span<const int32_t> choices, double sign) {
  const int32_t first = first_kept(choices);
  if (first < 0) return;
  for_each_following(shares, first, [&](const BranchShare& s, const auto& of_choice) {
    add_chosen(tally, choices, of_choice, static_cast<int32_t>(s.rank), sign * s.part);
  });
}

template <class SharesOf>
void TallyRule::add_chosen(LayerTally& tally, std::span<const int32_t> choices, SharesOf&& shares_of, int32_t home,
                           double sign) {
  touched_.clear(), touched_nodes_.clear();
  for (const int32_t choice : choices) {
    if (choice < 0) continue;
    const BranchShares& of_branch = shares_of(choice);
    for (const BranchShare& s : of_branch) {
      if (copies_[s.rank] == 0) touched_.push_back(s.rank);
      copies_[s.rank] += s.part;
      absent_[s.rank] *= 1 - s.part;
    }
    if (backend_ != Backend::per_node) continue;
    // The replicas of a branch on one node add up to what the node gets.
    for (size_t i = 0; i < of_branch.size();) {
      const size_t n = node(of_branch[i].rank);
      double part = 0;
      for (; i < of_branch.size() && node(of_branch[i].rank) == n; ++i) part += of_branch[i].part;
      if (std::find(touched_nodes_.begin(), touched_nodes_.end(), n) == touched_nodes_.end())
        touched_nodes_.push_back(n);
      absent_node_[n] *= std::max(1 - part, 0.);  // shares of a node may sum to a little more than 1
    }
  }
  if (touched_.empty()) return;
  tally.visits += sign;
  const auto rows_of = [&](size_t r) { return sign * (backend_ == Backend::per_expert ? copies_[r] : 1 - absent_[r]); };
  if (backend_ == Backend::gather) {
    tally.delivered += sign * static_cast<double>(ranks_ - 1);
    if (home < 0) tally.unknown_tokens += sign;
    for (size_t r = 0; r < ranks_ && home >= 0; ++r) add_remote(tally, r, sign, home);
  } else {
    for (const size_t n : touched_nodes_) add_to_node(tally, n, sign * (1 - absent_node_[n]), home);
    for (const size_t r : touched_) add_rows_sent(tally, r, rows_of(r), home);
  }
  for (const size_t r : touched_) copies_[r] = 0, absent_[r] = 1;
  for (const size_t n : touched_nodes_) absent_node_[n] = 1;
}

void TallyRule::begin_move(const std::vector<BranchShares>& shares, int32_t branch, const BranchShares& next) {
  move_.begin(shares, branch, next, ranks_);
  if (backend_ == Backend::per_node) move_of_nodes_.begin(shares, branch, next, ranks_, gpus_per_node_);
}

void TallyRule::move_token(LayerTally& tally, std::span<const int32_t> choices, int32_t home) {
  move_.look(choices);
  if (backend_ == Backend::per_node) {
    move_of_nodes_.look(choices);
    for (size_t i = 0; i < move_of_nodes_.places(); ++i)
      add_to_node(tally, move_of_nodes_.place(i), move_of_nodes_.comes(i), home);
  }
  for (size_t i = 0; i < move_.places(); ++i)
    add_rows_sent(tally, move_.place(i), backend_ == Backend::per_expert ? move_.copies(i) : move_.comes(i), home);
}

void TallyRule::add_rows_sent(LayerTally& tally, size_t rank, double rows, int32_t home) const {
  const double all = ranks_;
  tally.delivered += home < 0 ? rows * (all - 1) / all : static_cast<size_t>(home) == rank ? 0 : rows;
  if (backend_ == Backend::per_node)
    add_within_node(tally, rank, rows, home);
  else
    add_remote(tally, rank, rows, home);
}

void TallyRule::add_sent(LayerTally& tally, size_t from, size_t rank, double rows) const {
  if (from == rank) return;
  add_costs(tally.work, from, rank, rows);
  if (node(from) == node(rank))
    tally.work[from].fabric_out += rows, tally.work[rank].fabric_in += rows;
  else
    tally.work[from].network_out += rows, tally.work[rank].network_in += rows;
}

void TallyRule::add_to_node(LayerTally& tally, size_t to, double rows, int32_t home) const {
  if (home < 0) {
    tally.unknown_node[to] += rows;
    return;
  }
  const size_t from = home;
  if (to == node(from)) return;
  const size_t relay = to * gpus_per_node_ + from % gpus_per_node_;
  add_costs(tally.work, from, relay, rows);
  tally.work[from].network_out += rows, tally.work[relay].network_in += rows;
}

void TallyRule::add_within_node(LayerTally& tally, size_t rank, double rows, int32_t home) const {
  if (home < 0) {
    tally.unknown[rank] += rows;
    return;
  }
  const size_t relay = node(rank) * gpus_per_node_ + static_cast<size_t>(home) % gpus_per_node_;
  add_costs(tally.work, relay, rank, rows);
  if (rank != relay) tally.work[relay].fabric_out += rows, tally.work[rank].fabric_in += rows;
}

void TallyRule::add_choices(LayerTally& tally, const BranchShares& shares, double count, double sign) {
  const double all = ranks_;
  if (replicas_ == ReplicaRule::nearest && shares.size() > 1) {
    for (size_t home = 0; home < ranks_; ++home) {
      find_nearest(shares, home, gpus_per_node_, near_);
      for (const BranchShare& s : near_) {
        add_remote(tally, s.rank, sign * count * s.part / all, static_cast<int32_t>(home));
        if (s.rank != home) tally.delivered += sign * count * s.part / all;
      }
    }
    return;
  }
  for (const BranchShare& s : shares) tally.unknown[s.rank] += sign * count * s.part;
  tally.delivered += sign * count * (all - 1) / all;
}

void TallyRule::add_products(LayerTally& tally, const BranchShares& shares, double count, double sign) const {
  if (count <= 0) return;
  for (const BranchShare& s : shares)
    add_rows(tally, s.rank, count * s.part, s.part == 1 ? tiles_of(count) : tiles_by_turns(count * s.part), sign);
}

void TallyRule::add_products_by_home(LayerTally& tally, const BranchShares& shares,
                                     std::span<const double> count_of_home, double sign) {
  for (size_t home = 0; home < ranks_; ++home) {
    const double count = count_of_home[home];
    if (count <= 0) continue;
    find_nearest(shares, home, gpus_per_node_, near_);
    for (const BranchShare& s : near_) rows_[s.rank] += count * s.part;
  }
  for (const BranchShare& s : shares) {
    add_rows(tally, s.rank, rows_[s.rank], tiles_by_turns(rows_[s.rank]), sign);
    rows_[s.rank] = 0;
  }
}

void TallyRule::add_rows(LayerTally& tally, size_t rank, double rows, double tiles, double sign) const {
  const double active = std::min(rows, 1.);
  tally.work[rank].active += sign * active;
  tally.work[rank].rows += sign * tiles * kRowTile;
  // `active` is the chance that any token comes; the time is that of the rows that come then.
  if (expert_curve_ && active > 0) tally.work[rank].expert_us += sign * active * expert_curve_->us(rows / active);
}

void TallyRule::add_costs(std::vector<RankWork>& work, size_t from, size_t to, double rows) const {
  if (!rank_cost_ || from == to) return;
  const double there = rows * (*rank_cost_)[from * ranks_ + to], back = rows * (*rank_cost_)[to * ranks_ + from];
  work[from].dispatch_out += there, work[to].dispatch_in += there;
  work[to].combine_out += back, work[from].combine_in += back;
}

// Each rank sends as much, as in work().
void TallyRule::add_unknown_costs(const LayerTally& tally) {
  const auto g = static_cast<double>(gpus_per_node_), all = static_cast<double>(ranks_);
  for (size_t r = 0; r < ranks_; ++r) {
    const double rows = tally.unknown[r] + tally.unknown_tokens;
    if (backend_ != Backend::per_node) {
      for (size_t home = 0; home < ranks_; ++home) add_costs(whole_, home, r, rows / all);
      continue;
    }
    const size_t n = node(r);
    for (size_t relay = n * gpus_per_node_; relay < (n + 1) * gpus_per_node_; ++relay)
      add_costs(whole_, relay, r, rows / g);
    for (size_t home = r % gpus_per_node_; home < ranks_; home += gpus_per_node_)
      add_costs(whole_, home, r, tally.unknown_node[n] / all);
  }
}

// Tokens that may live anywhere: each rank is the home of an equal share, so of what comes to a rank 1 / ranks is there
// already.
std::span<const RankWork> TallyRule::work(const LayerTally& tally) {
  const auto g = static_cast<double>(gpus_per_node_), all = static_cast<double>(ranks_);
  std::copy(tally.work.begin(), tally.work.end(), whole_.begin());
  std::fill(of_node_.begin(), of_node_.end(), 0.);
  double sum = 0;
  for (size_t r = 0; r < ranks_; ++r) {
    const double rows = tally.unknown[r] + tally.unknown_tokens;
    sum += rows, of_node_[node(r)] += rows;
  }
  if (sum <= 0) return whole_;
  if (rank_cost_) add_unknown_costs(tally);
  double nodes_sum = 0;
  for (const double rows : tally.unknown_node) nodes_sum += rows;
  for (size_t r = 0; r < ranks_; ++r) {
    const size_t n = node(r);
    const double rows = tally.unknown[r] + tally.unknown_tokens;
    RankWork& w = whole_[r];
    if (backend_ == Backend::per_node) {
      w.network_in += tally.unknown_node[n] * (all - g) / all / g,
          w.network_out += (nodes_sum - tally.unknown_node[n]) / all;
      w.fabric_in += rows * (g - 1) / g, w.fabric_out += (of_node_[n] - rows) / g;
    } else {
      w.fabric_in += rows * (g - 1) / all, w.network_in += rows * (all - g) / all;
      w.fabric_out += (of_node_[n] - rows) / all, w.network_out += (sum - of_node_[n]) / all;
    }
  }
  return whole_;
}

HomeCrowding TallyRule::crowding(double tokens) const {
  const auto among = [tokens](size_t places) {
    const double all = places;
    return all / std::clamp(tokens, 1., all);
  };
  // With per_node, rows that come into a node go on from the place of their home alone.
  return {.fabric = among(backend_ == Backend::per_node ? gpus_per_node_ : ranks_),
          .network = among(ranks_),
          .uplink = among(ranks_ / gpus_per_node_)};
}

}  // namespace stormcell
