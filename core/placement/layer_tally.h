// Sums of the ranks' work in one layer of one step: tokens and branches are added and taken away again. A placement
// that changes by one move is costed again by what the move touches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/step_terms.h"
#include "core/cost/layer_cost.h"
#include "core/placement/placement.h"

namespace stormcell {

/// Whether a branch is also among the choices before this place: a token goes to it once.
inline bool chosen_before(std::span<const int32_t> choices, size_t at) {
  for (size_t i = 0; i < at; ++i)
    if (choices[i] == choices[at]) return true;
  return false;
}

/// A rank that holds a branch, and its part of the branch's tokens.
struct BranchShare {
  size_t rank;
  double part;
  bool operator==(const BranchShare&) const = default;
};
/// Shares of one branch, ranks ascending.
using BranchShares = std::vector<BranchShare>;
/// [branches] of one layer. Replicas share evenly; two on one rank are one share; an empty slot (-1) holds nothing.
std::vector<BranchShares> shares_of(const LayerSlots& layer, int32_t branches, int32_t ranks);
/// The same for one branch, written to `shares`.
void find_shares(const LayerSlots& layer, int32_t branch, int32_t ranks, BranchShares& shares);

/// Visits each replica of a token's first choice, if the token moves there: `visit(share, shares_of)`. The token's part
/// goes to that replica and finds this choice there, the others as `shares` says.
template <class Visit>
void for_each_following(std::span<const BranchShares> shares, int32_t first, Visit&& visit) {
  BranchShares its_own(1);
  for (const BranchShare& s : shares[first]) {
    its_own[0] = {s.rank, 1};
    visit(s, [&](int32_t choice) -> const BranchShares& { return choice == first ? its_own : shares[choice]; });
  }
}

/// Finds the replicas in `all` that a token of this home goes to.
void find_nearest(const BranchShares& all, size_t home, size_t gpus_per_node, BranchShares& nearest);
/// The parts of tokens that come to each rank by that, if tokens live on all `ranks` alike.
BranchShares nearest_from_anywhere(const BranchShares& all, size_t ranks, size_t gpus_per_node);

/// A move of a branch of a layer: how much more of a token comes to each place, from one look at its choices. Places
/// are ranks, or nodes of so many. Replicas share evenly. Keeps its memory.
class BranchMove {
 public:
  /// Begins a move from `shares` [branches] to `next`.
  void begin(const std::vector<BranchShares>& shares, int32_t branch, const BranchShares& next, size_t ranks,
             size_t ranks_of_place = 1);
  /// Looks at a token that chose the branch, maybe more than once.
  void look(std::span<const int32_t> choices);
  double times() const { return times_; }  ///< how often the token chose it

  // Places where the branch gets more or less than before.
  size_t places() const { return place_.size(); }
  size_t place(size_t i) const { return place_[i]; }
  /// Added chance that the token comes there, whatever its other choices bring there already.
  double comes(size_t i) const { return comes_[i]; }
  /// Additional copies, if each choice is one.
  double copies(size_t i) const { return times_ * (after_[i] - before_[i]); }
  /// Added chance that the branch meets one with these shares on one rank.
  double meets(const BranchShares& other) const;

 private:
  static constexpr size_t kSame = -1;
  int32_t branch_ = -1;
  std::vector<size_t> place_;
  std::vector<double> before_, after_;  // [places] the branch's parts
  std::vector<double> absent_;  // [branches, places] the chance that a choice of another branch does not come there
  std::vector<double> comes_;   // [places]
  std::vector<double> before_of_, after_of_;  // for all places, while it begins
  std::vector<size_t> index_;                 // of all places in place_; kSame: the branch gets as much as before
  double times_ = 0;
};

struct LayerTally {
  LayerTally(size_t ranks, size_t nodes) : work(ranks), unknown(ranks), unknown_node(nodes) {}
  std::vector<RankWork> work;        ///< [ranks] products, and rows of tokens whose home is known
  std::vector<double> unknown;       ///< [ranks] rows that come there from tokens that live anywhere
  std::vector<double> unknown_node;  ///< [nodes] of per_node: over the network likewise
  double unknown_tokens = 0;         ///< tokens that every rank gets (gather)
  double visits = 0;                 ///< tokens that met the layer
  double delivered = 0;              ///< rows to ranks that are not the token's own
};

/// How tokens and branches count. Keeps room for one token at a time: one thread.
class TallyRule {
 public:
  /// The ranks of a node follow each other; `nodes` divides the ranks. `rank_cost`, `expert_curve`: of CostModel; may
  /// be null.
  TallyRule(int32_t ranks, int32_t nodes, Backend backend,
            std::shared_ptr<const std::vector<double>> rank_cost = nullptr, ReplicaRule replicas = ReplicaRule::even,
            std::shared_ptr<const RowCurve> expert_curve = nullptr);

  /// Adds what a token sends that chose these branches (negative: none) and lives on rank `home` (-1: anywhere). `sign`
  /// -1 takes it away. With the nearest replicas, a token that lives anywhere is one of each home by equal parts.
  void add_token(LayerTally& tally, const std::vector<BranchShares>& shares, std::span<const int32_t> choices,
                 int32_t home, double sign);
  /// Adds a token that moves to where its first choice lies: to each of that branch's replicas by its part. The results
  /// of its choices come there. Replicas share evenly.
  void add_following(LayerTally& tally, const std::vector<BranchShares>& shares, std::span<const int32_t> choices,
                     double sign);
  /// Begins the move of a branch from `shares` to `next`; move_token() then changes the sums of each token that chose
  /// it. The result is that of add_token() taking the token away and adding it again, but it takes one look at the
  /// choices and at the ranks where the branch gets more or less. Replicas must share evenly. Not for gather, which
  /// sends the same wherever branches are.
  void begin_move(const std::vector<BranchShares>& shares, int32_t branch, const BranchShares& next);
  void move_token(LayerTally& tally, std::span<const int32_t> choices, int32_t home);
  /// Adds what is sent for `count` choices of a branch if their tokens are not known: for backend per_expert.
  void add_choices(LayerTally& tally, const BranchShares& shares, double count, double sign);
  /// Adds tokens that live anywhere and go everywhere: for backend gather.
  void add_everywhere(LayerTally& tally, double tokens) const { tally.unknown_tokens += tokens; }
  /// Adds what the ranks of a branch compute that `count` tokens chose. Replicas take tokens by turns, so few tokens
  /// meet few replicas.
  void add_products(LayerTally& tally, const BranchShares& shares, double count, double sign) const;
  /// The same if tokens go to the nearest replicas: `count_of_home` [ranks] of them live on each rank.
  void add_products_by_home(LayerTally& tally, const BranchShares& shares, std::span<const double> count_of_home,
                            double sign);

  /// [ranks] the work of each, with expectations for tokens that live anywhere. Valid until the next call.
  std::span<const RankWork> work(const LayerTally& tally);
  /// Crowding by `tokens` that may live anywhere: no more ranks can send than there are tokens.
  HomeCrowding crowding(double tokens) const;

 private:
  /// `shares_of(choice)`: of a token with one home.
  template <class SharesOf>
  void add_chosen(LayerTally& tally, std::span<const int32_t> choices, SharesOf&& shares_of, int32_t home, double sign);
  /// Adds rows that come to a rank: not for gather, and for per_node without their way between nodes.
  void add_rows_sent(LayerTally& tally, size_t rank, double rows, int32_t home) const;
  void add_remote(LayerTally& tally, size_t rank, double rows, int32_t home) const {
    home < 0 ? static_cast<void>(tally.unknown[rank] += rows) : add_sent(tally, static_cast<size_t>(home), rank, rows);
  }
  void add_sent(LayerTally& tally, size_t from, size_t rank, double rows) const;
  /// Adds rows of per_node: over the network to the GPU of the same place in the other node, from there to the others.
  void add_to_node(LayerTally& tally, size_t to, double rows, int32_t home) const;
  void add_within_node(LayerTally& tally, size_t rank, double rows, int32_t home) const;
  /// Adds a rank's part of the rows of one branch, as an expectation; its replicas take them by turns. `tiles`: those
  /// that these rows fill.
  void add_rows(LayerTally& tally, size_t rank, double rows, double tiles, double sign) const;
  /// Adds rows of the dispatch from one rank to another, by their cost there and back.
  void add_costs(std::vector<RankWork>& work, size_t from, size_t to, double rows) const;
  void add_unknown_costs(const LayerTally& tally);
  size_t node(size_t rank) const { return rank / gpus_per_node_; }

  const Backend backend_;
  const size_t ranks_, gpus_per_node_;
  const std::shared_ptr<const std::vector<double>> rank_cost_;
  const ReplicaRule replicas_;
  const std::shared_ptr<const RowCurve> expert_curve_;
  std::vector<RankWork> whole_;
  std::vector<double> of_node_;
  // Scratch for the token at hand.
  std::vector<double> copies_, absent_, absent_node_;
  std::vector<size_t> touched_, touched_nodes_;
  BranchShares near_;
  std::vector<double> rows_;  // [ranks] of a branch by home
  BranchMove move_, move_of_nodes_;
};

}  // namespace stormcell
