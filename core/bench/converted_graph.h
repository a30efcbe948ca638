// A model in another number format than the stored one.
#pragma once
#include <memory>

#include "core/graph/graph.h"

namespace stormcell {

/// The graph in another number format: what `--dtype` asks for. Each matrix is a recipe that converts what the graph
/// had; integers and small tensors (norms) stay as they are. Caches (states in pages) are in bf16 if the weights are,
/// else in f32, as models keep them.
std::shared_ptr<const Graph> in_format(const Graph& graph, DType to);

}  // namespace stormcell
