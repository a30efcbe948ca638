// The part of a graph between the scatters of routers and the gathers that join their branches again.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/uses.h"

namespace stormcell {

/// Everything in one block that lives in the branches of a set of connected decisions. A gather connects all decisions
/// between the rows that it joins and its own cells: exits that join at the end of a chain, routers whose rows are
/// summed. A router that opens and closes within a branch has a region of its own there. A decision with several
/// rounds, or with flows that never meet, has several regions.
struct Region {
  std::vector<ValueId> decisions;  ///< outer ones before those within
  BlockPlace block;
  std::vector<NodeId> nodes;                         ///< all of it, in running order
  std::vector<NodeId> gathers;                       ///< those of the nodes that are gathers and close it
  std::map<ValueId, std::vector<int32_t>> branches;  ///< by decision: those that it computes, ascending
  std::string obstacle;  ///< why a pass must leave it alone, empty where nothing speaks against it
};

/// The decisions whose branches a block opens, outer ones before those within.
std::vector<ValueId> decisions_of(const Graph& graph, BlockPlace block);
/// The regions of a block that open branches of `decision`, in running order; with it come the decisions that gathers
/// tie to it.
std::vector<Region> find_regions(const Graph& graph, BlockPlace block, ValueId decision);
/// The part of a region behind the opening of some of its decisions: rows of the others enter the gathers from outside.
Region part_behind(const Graph& graph, const Region& region, std::span<const ValueId> decisions);

/// The branch of `decision` that a space lies in, at any depth: kAllBranches for all slots, nothing if it lies in none.
std::optional<int32_t> branch_within(const Graph& graph, SpaceId space, ValueId decision);
/// Branches of `decision` that a node belongs to, ascending: of its outputs, or, where those live elsewhere, of what it
/// reads, also through flags; what works on all slots at once belongs to kAllBranches.
std::vector<int32_t> branches_of_node(const Graph& graph, ValueId decision, NodeId node);
/// Name of the route node that makes a decision.
const std::string& router_name(const Graph& graph, ValueId decision);

}  // namespace stormcell
