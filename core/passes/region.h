// The part of a graph between the scatters of a decision and the gathers that join its branches again.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/graph/uses.h"

namespace stormcell {

/// Everything in one block that lives in the branches of one decision and hangs together. A decision with several rounds, or with flows
/// that never meet, has several regions.
struct Region {
  ValueId decision = kNone;
  BlockPlace block;
  std::vector<NodeId> nodes;      ///< all of it, in running order
  std::vector<NodeId> gathers;    ///< of these, the gathers that close it
  std::vector<int32_t> branches;  ///< that it computes, ascending
  std::string obstacle;           ///< why a pass must leave it alone, empty where nothing speaks against it
};

/// The decisions whose regions begin in a block, outer ones before those within.
std::vector<ValueId> decisions_of(const Graph& graph, BlockPlace block);
/// The regions of a decision in a block, in running order.
std::vector<Region> find_regions(const Graph& graph, BlockPlace block, ValueId decision);

/// Which branch of `decision` a space lies in, at any depth: kAllBranches for all slots, nothing where it lies in none.
std::optional<int32_t> branch_within(const Graph& graph, SpaceId space, ValueId decision);
/// Branches of the region's decision that a node of it belongs to, ascending: of its outputs, or, where those live elsewhere, of what it
/// reads; what works on all slots at once belongs to kAllBranches.
std::vector<int32_t> branches_of_node(const Graph& graph, const Region& region, NodeId node);
/// Name of the route node that makes a decision.
const std::string& router_name(const Graph& graph, ValueId decision);

}  // namespace stormcell
