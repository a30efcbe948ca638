// Routers whose cells were sent, in the model, to a branch that a rewrite has made straight.
#pragma once
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// A branch that the cells of a router would have come from. Nobody sends them there any more: all cells of that router
/// are in it.
struct FormerBranch {
  std::string router;
  int32_t branch = 0;
};

/// The attribute `within` of a route node ("reached=0 compute=1"), outermost branch first. It belongs to the identity
/// of the cells, as the routed spaces do in which the node decides. Empty: there is none. Error(bad_input): it is no
/// such list.
std::vector<FormerBranch> former_branches(const Node& route);
/// Lets `route`, which decided over the routed space `space`, decide over its parent.
void add_within(const Graph& graph, SpaceId space, Node& route);

}  // namespace stormcell
