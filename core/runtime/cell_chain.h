// How rows of a routed or ragged space are followed up to the cells that they are.
#pragma once
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// One step up: to the parent of a routed space, to the base of a ragged one.
struct CellLink {
  ValueId told_by = kNone;  ///< the decision, or the ragged value
  bool ragged = false;
  int32_t branch = kAllBranches;  ///< whose slots, or whose members, the rows are
  ValueId decision = kNone;       ///< ragged: the decision whose members they are, kNone otherwise
};

/// The links from `space` up to `ancestor`, of which all its cells are.
std::vector<CellLink> cell_chain(const Graph& graph, SpaceId space, SpaceId ancestor);
/// The values a device needs to follow a chain, in its order: of each link the value that tells, then the decision of members.
std::vector<ValueId> values_of(const std::vector<CellLink>& chain);
/// True where no cell of the ancestor comes twice: then its row names a cell.
bool names_cells(const Graph& graph, const std::vector<CellLink>& chain);

}  // namespace stormcell
