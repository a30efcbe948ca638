// A region as it is where some of its routers send every cell to the same branches: nothing is sent, the branches work
// on all cells.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/rewrite.h"
#include "core/passes/region.h"

namespace stormcell {

/// The branches that get every cell, by decision; the others get none.
using TakenBranches = std::map<ValueId, std::set<int32_t>>;

/// The computation of a region behind decisions (part_behind), none of which is made in it, while they take these
/// branches: bit for bit the same, without scatters and, if nothing else is joined, without gathers.
class StraightRegion {
 public:
  StraightRegion(Rewriter& rewriter, const Region& region, TakenBranches taken)
      : rewriter_(rewriter), region_(region), taken_(std::move(taken)) {}

  /// The reason why it cannot be made, and the decision that causes it; kNone: no single one does.
  struct Obstacle {
    ValueId decision = kNone;
    std::string why;
  };
  std::optional<Obstacle> obstacle() const;
  /// The decisions whose weights it reads.
  std::set<ValueId> weighed() const;
  /// Operators of which make() makes nodes, though the region may have none of them; and those of holds().
  std::set<std::string_view> operators_of_make() const;
  std::set<std::string_view> operators_of_holds() const;
  /// Copies of its nodes, which are in no block yet, and the values in place of those of its gathers, in their order.
  /// There must be no obstacle. `decided`: the values in place of decisions that were copied.
  Rewriter::Body make(ValueMap decided = {});
  /// A flag that tells whether the decisions at hand are so; the nodes that compute it are added to `nodes`.
  ValueId holds(const ValueMap& decided, std::vector<NodeId>& nodes) const;

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  ValueId decision_over(SpaceId space) const;
  ValueId decision_over(NodeId id) const;
  SpaceId routed_cells(SpaceId space) const;
  bool is_sent(SpaceId space) const;
  bool is_dead(SpaceId space) const;
  bool is_dead(NodeId id) const;
  bool sends(const Node& node) const { return taken_.contains(sends_by(node)); }
  ValueId sends_by(const Node& node) const;
  ValueId weighed_by(const Node& node) const;
  bool joins(NodeId id) const;
  std::string obstacle_of(NodeId id) const;
  std::optional<Obstacle> obstacle_of_gather(const Node& gather) const;

  SpaceId straight(SpaceId space) const;
  ValueId copy_of(ValueId v) const;
  NodeId make_again(NodeId id);
  NodeId make_weight(NodeId id);
  void skip_sending(NodeId id);
  void join(NodeId id, Rewriter::Body& body);
  bool asks_for_none(ValueId decision) const;
  ValueId weigh(ValueId row, SpaceId sent_to, const std::string& name, Rewriter::Body& body);

  Rewriter& rewriter_;
  const Region& region_;
  TakenBranches taken_;
  ValueMap decided_, copies_;
};

}  // namespace stormcell
