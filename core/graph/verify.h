// Checks that a graph is well formed: every pass is followed by it.
#pragma once
#include "core/graph/graph.h"

namespace stormcell {

/// The largest extent and the most elements of one cell's content (or of one weight): far above any model's, far from
/// overflow.
inline constexpr int64_t kMostContent = int64_t{1} << 40, kMostElements = int64_t{1} << 46;

/// Throws Error(bad_input) that names the node, what was expected and what came: inputs defined before use and visible
/// in their block, one producer a value, types as the shape rules infer them, spaces in a tree, cells used only where
/// their decision is known, constant content extents, bodies where they belong, outputs that exist, annotations only
/// where they are allowed.
void verify(const Graph& graph);

}  // namespace stormcell
