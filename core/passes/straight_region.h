// A region as it is where one of its routers sends every cell to the same branches: nothing is sent, the branches work on all cells.
#pragma once
#include "core/graph/rewrite.h"
#include "core/passes/region.h"

namespace stormcell {

/// Of a region behind one decision (part_behind) what it computes while each of the branches `taken` gets every cell and the others get
/// none: bit for bit the same, without scatters and, where nothing else is joined, without gathers.
class StraightRegion {
 public:
  StraightRegion(Rewriter& rewriter, const Region& region, ValueId decision, const std::vector<int32_t>& taken)
      : rewriter_(rewriter), region_(region), decision_(decision), taken_(taken.begin(), taken.end()) {}

  /// Why it cannot be made; empty where it can.
  std::string obstacle() const;
  /// Copies of its nodes, which stand in no block yet, and what stands for the values of its gathers, in their order. Where there is no
  /// obstacle.
  Rewriter::Body make();
  /// A flag that says whether the decision at hand, or a copy of it, is so; the nodes that find out are added to `nodes`.
  ValueId holds(ValueId decision, std::vector<NodeId>& nodes) const;

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  bool is_gather(NodeId id) const;
  bool is_dead(SpaceId space) const;
  bool is_dead(NodeId id) const;
  std::string obstacle_of(NodeId id) const;
  std::string obstacle_of_gather(const Node& gather) const;
  bool in_listed_order(const std::vector<SpaceId>& joined, SpaceId target) const;
  SpaceId straight(SpaceId space) const;
  ValueId copy_of(ValueId v) const;
  NodeId make_again(NodeId id);
  void skip_sending(NodeId id);
  void join(NodeId id, Rewriter::Body& body);

  Rewriter& rewriter_;
  const Region& region_;
  ValueId decision_;
  std::set<int32_t> taken_;
  ValueMap copies_;
};

}  // namespace stormcell
