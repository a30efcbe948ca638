// How relations between cells are composed and joined. Two facts carry it: all meets of one value lie on the one chain
// of spaces above it, so that one of two meets is always the coarser; and a routed cell is its parent's cell, so that
// meets need no routed space.
#pragma once
#include "core/graph/cell_relation.h"
#include "core/graph/operator.h"

namespace stormcell {

/// Every cell depends on itself; a value without cells is one cell for all.
CellRelation identity_relation(const Graph& graph, SpaceId space);
/// The relation that allows what both allow together.
CellRelation join(const Graph& graph, const CellRelation& a, const CellRelation& b);
/// `relation` of an input over `from`, carried by `flow` to an output over `to`.
CellRelation compose(const Graph& graph, const CellRelation& relation, const Flow& flow, SpaceId from, SpaceId to);

}  // namespace stormcell
