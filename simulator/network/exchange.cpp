#include "simulator/network/exchange.h"

#include <algorithm>
#include <numeric>

#include "core/placement/step_work.h"

namespace stormcell {
namespace {

/// Rows that the current token sends to ranks and nodes, from any home.
class TokenCopies {
 public:
  TokenCopies(const Network& network, Backend backend)
      : network_(network),
        backend_(backend),
        rows_(static_cast<size_t>(network.ranks())),
        node_rows_(static_cast<size_t>(network.nodes())),
        absent_(rows_.size()),
        absent_node_(node_rows_.size()) {}

  /// `shares_of(choice)`: ranks that the choice goes to. Returns false if the token chose nothing.
  template <class SharesOf>
  bool look_at(std::span<const int32_t> choices, SharesOf&& shares_of) {
    std::fill(rows_.begin(), rows_.end(), 0.);
    std::fill(absent_.begin(), absent_.end(), 1.);
    std::fill(absent_node_.begin(), absent_node_.end(), 1.);
    bool any = false;
    for (const int32_t choice : choices) {
      if (choice < 0) continue;
      std::vector<double> of_node(node_rows_.size());
      for (const BranchShare& s : shares_of(choice)) {
        any = true;
        rows_[s.rank] += s.part, absent_[s.rank] *= 1 - s.part;
        of_node[network_.node(static_cast<int32_t>(s.rank))] += s.part;
      }
      for (size_t n = 0; n < of_node.size(); ++n) absent_node_[n] *= std::max(1 - of_node[n], 0.);
    }
    if (backend_ == Backend::gather) std::fill(rows_.begin(), rows_.end(), any ? 1. : 0.);
    if (backend_ == Backend::per_rank || backend_ == Backend::per_node)
      for (size_t r = 0; r < rows_.size(); ++r) rows_[r] = 1 - absent_[r];
    for (size_t n = 0; n < node_rows_.size(); ++n) node_rows_[n] = 1 - absent_node_[n];
    return any;
  }

  /// Adds the rows of a token that lives on `home` with this probability.
  void send(int32_t home, double chance, RankRows& out) const {
    const int32_t ranks = network_.ranks();
    const auto add = [&](int32_t from, int32_t to, double rows) {
      if (from != to) out[int64_t{from} * ranks + to] += chance * rows;
    };
    if (backend_ != Backend::per_node) {
      for (int32_t r = 0; r < ranks; ++r) add(home, r, rows_[r]);
      return;
    }
    // Rows go over the network to the GPU at the same place in the other node, and from there to the others.
    const int32_t place = home % network_.gpus_per_node();
    for (int32_t n = 0; n < network_.nodes(); ++n)
      if (n != network_.node(home)) add(home, n * network_.gpus_per_node() + place, node_rows_[n]);
    for (int32_t r = 0; r < ranks; ++r) add(network_.node(r) * network_.gpus_per_node() + place, r, rows_[r]);
  }

 private:
  const Network& network_;
  const Backend backend_;
  std::vector<double> rows_, node_rows_, absent_, absent_node_;
};

RankRows no_rows(const Network& network) {
  const size_t ranks = network.ranks();
  return RankRows(ranks * ranks);
}

}  // namespace

RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, Backend backend, const Network& network,
                         ReplicaRule replicas) {
  RankRows out = no_rows(network);
  TokenCopies copies(network, backend);
  const int32_t ranks = network.ranks();
  const bool homes = homes_known(routes, tokens, ranks);
  const auto all = [&](int32_t choice) -> const BranchShares& { return shares[choice]; };
  BranchShares near;
  for (const size_t t : tokens) {
    const std::span<const int32_t> choices = routes.at(t, layer);
    if (!copies.look_at(choices, all)) continue;
    const int32_t first = homes ? routes.tokens[t].rank : 0, last = homes ? first : ranks - 1;
    for (int32_t home = first; home <= last; ++home) {
      const auto nearest = [&](int32_t choice) -> const BranchShares& {
        find_nearest(all(choice), static_cast<size_t>(home), static_cast<size_t>(network.gpus_per_node()), near);
        return near;
      };
      if (replicas == ReplicaRule::nearest) copies.look_at(choices, nearest);
      copies.send(home, homes ? 1. : 1. / ranks, out);
    }
  }
  return out;
}

RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, std::span<const BranchShares> lives, Backend backend,
                         const Network& network) {
  RankRows out = no_rows(network);
  TokenCopies copies(network, backend);
  const auto all = [&](int32_t choice) -> const BranchShares& { return shares[choice]; };
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!copies.look_at(routes.at(tokens[i], layer), all)) continue;
    for (const BranchShare& home : lives[i]) copies.send(static_cast<int32_t>(home.rank), home.part, out);
    for (int32_t home = 0; home < network.ranks() && lives[i].empty(); ++home)
      copies.send(home, 1. / network.ranks(), out);
  }
  return out;
}

std::vector<BranchShares> lives_of_following(const TokenRoutes& routes, std::span<const size_t> tokens,
                                             const Placement& placement, int32_t layer) {
  const bool homes = homes_known(routes, tokens, placement.ranks);
  std::vector<BranchShares> lives(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (homes) lives[i] = {{static_cast<size_t>(routes.tokens[tokens[i]].rank), 1}};
    if (const int32_t moved = routes.moved_at(tokens[i], layer); moved >= 0)
      find_shares(placement.layers[moved], routes.heaviest(tokens[i], moved), placement.ranks, lives[i]);
  }
  return lives;
}

RankRows followed_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                       std::span<const BranchShares> shares, Backend backend, const Network& network) {
  RankRows out = no_rows(network);
  TokenCopies copies(network, backend);
  for (const size_t t : tokens) {
    const int32_t first = routes.heaviest(t, layer);
    if (first < 0) continue;
    for_each_following(shares, first, [&](const BranchShare& s, const auto& of_choice) {
      copies.look_at(routes.at(t, layer), of_choice);
      copies.send(static_cast<int32_t>(s.rank), s.part, out);
    });
  }
  return out;
}

RankRows dispatched_rows(std::span<const double> loads, double k, std::span<const BranchShares> shares, Backend backend,
                         const Network& network, ReplicaRule replicas) {
  RankRows out = no_rows(network);
  const size_t ranks = network.ranks();
  const double all = std::accumulate(loads.begin(), loads.end(), 0.);
  std::vector<double> to(ranks);
  BranchShares near;
  for (size_t from = 0; from < ranks; ++from) {
    std::fill(to.begin(), to.end(), backend == Backend::gather ? all / k : 0);
    for (size_t b = 0; b < loads.size() && backend != Backend::gather; ++b) {
      if (replicas == ReplicaRule::nearest)
        find_nearest(shares[b], from, static_cast<size_t>(network.gpus_per_node()), near);
      for (const BranchShare& s : replicas == ReplicaRule::nearest ? near : shares[b]) to[s.rank] += loads[b] * s.part;
    }
    for (size_t r = 0; r < ranks; ++r)
      if (r != from) out[from * ranks + r] = to[r] / static_cast<double>(ranks);
  }
  return out;
}

std::vector<NetworkFlow> flows_of(const RankRows& rows, double row_bytes, const Network& network) {
  std::vector<NetworkFlow> flows;
  const int32_t ranks = network.ranks();
  for (int32_t from = 0; from < ranks; ++from)
    for (int32_t to = 0; to < ranks; ++to)
      if (const double sent = rows[int64_t{from} * ranks + to]; sent > 0)
        flows.push_back(network.flow(from, to, sent * row_bytes));
  return flows;
}

RankRows combined_rows(const RankRows& dispatched, int32_t ranks) {
  RankRows out(dispatched.size());
  const size_t all = ranks;
  for (size_t from = 0; from < all; ++from)
    for (size_t to = 0; to < all; ++to) out[to * all + from] = dispatched[from * all + to];
  return out;
}

}  // namespace stormcell
