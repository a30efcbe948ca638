// Spaces that follow from a value (cells of a branch of a decision, cells of a ragged value), and the order of cells
// below the items.
#pragma once
#include "core/graph/graph.h"

namespace stormcell {

/// The cells that `decision` sends to `branch` (or all slots: kAllBranches). Found, or added: each is made once.
SpaceId routed_space(Graph& graph, ValueId decision, int32_t branch);

/// The same for who knows that it is not there yet.
SpaceId add_routed_space(Graph& graph, ValueId decision, int32_t branch);

/// The cells of `ragged` below `parent`: the parent of its base (compact), or a routed space of the decision whose
/// members it holds; then one branch or all slots. Found, or added.
SpaceId ragged_space(Graph& graph, ValueId ragged, SpaceId parent);

/// A bound on the parents of all cells of a ragged value together.
Dim ragged_parents(const Graph& graph, ValueId ragged);
/// A bound on all cells of a ragged value together.
Dim ragged_cells(const Graph& graph, ValueId ragged);

/// Whether every item of a batch has as many rows as the next, one item's behind the other's.
bool holds_items_in_order(const Graph& graph, SpaceId space);

}  // namespace stormcell
