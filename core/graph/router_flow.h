// The dependents of each router's decision, and what mixes cells between it and the next router.
#pragma once
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// Something that mixes cells: "attention within sequences", "capacity within sequences, in order", "priority over the
/// batch".
struct Mixing {
  std::string what;        ///< the operator, or capacity or priority of a router
  SpaceId within = kNone;  ///< kNone: the batch
  bool ordered = false;
  bool operator==(const Mixing&) const = default;
};

struct RouterFlow {
  NodeId router = kNone;
  ValueId decision = kNone;
  std::string name;
  std::vector<ValueId> values;       ///< values that depend on the decision, in running order
  std::vector<std::string> outputs;  ///< outputs of the graph that depend on it
  std::vector<std::string> routers;  ///< routers whose decisions depend on it
  /// its own capacity or priority, then what mixes the cells it routed before the next router decides
  std::vector<Mixing> mixes;
};

/// One entry a route node, in running order.
std::vector<RouterFlow> router_flows(const Graph& graph);

/// The values that are computed in one step from each value; states are values like others, whatever the order of
/// writing. A gather's outputs come from the decisions between, a repeat's states from its stop.
IdVector<ValueId, std::vector<ValueId>> value_successors(const Graph& graph);

/// "attention within sequences", "capacity within sequences, in order", "priority over the batch".
std::string to_text(const Graph& graph, const Mixing& mixing);

}  // namespace stormcell
