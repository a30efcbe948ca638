// Checks that a graph is well formed: every pass is followed by it.
#pragma once
#include "core/graph/graph.h"

namespace stormcell {

/// Throws Error(bad_input) that names the node, what was expected and what came: inputs defined before use and visible in their block,
/// one producer a value, types as the shape rules infer them, spaces that form a tree, decisions routed from where they are used,
/// constant content extents, states written only outside of guards or inside one body, outputs that exist.
void verify(const Graph& graph);

}  // namespace stormcell
