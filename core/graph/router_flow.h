// What depends on each router's decision, and what mixes cells between it and the next router.
#pragma once
#include <vector>

#include "core/graph/cell_flow.h"

namespace stormcell {

/// One entry a route node, in running order.
std::vector<RouterFlow> router_flows(const Graph& graph);

/// For each value the values that are computed from it in one step; states are values like others, whatever the order of writing.
/// A gather's outputs come from the decisions between, a repeat's states from its stop.
IdVector<ValueId, std::vector<ValueId>> value_successors(const Graph& graph);

}  // namespace stormcell
