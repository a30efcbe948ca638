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

/// What the attribute `within` of a route node says ("reached=0 compute=1"), outermost first: it belongs to the
/// identity of the cells, as the routed spaces do in which it decides. Empty: it says nothing. Error(bad_input) for
/// what is no such list.
std::vector<FormerBranch> former_branches(const Node& route);
/// `route`, which decided over the routed space `space`, is to decide over its parent.
void add_within(const Graph& graph, SpaceId space, Node& route);

}  // namespace stormcell
