// Branches of one router that do the same with other weights.
#pragma once
#include <map>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// The space of the lowest alike branch of the same decision, for each routed space of a branch (itself, if none is
/// lower). Two spaces are alike when their nodes, in running order, have the same operators, attributes, types and
/// inputs but for their weights and their branch.
std::map<SpaceId, SpaceId> alike_branches(const Graph& graph);

}  // namespace stormcell
