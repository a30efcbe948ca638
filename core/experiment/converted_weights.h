// A model in another number format than the stored one.
#pragma once
#include <memory>

#include "core/graph/graph.h"

namespace stormcell {

/// The graph on weights in another number format: what `--dtype` asks for. Each is a recipe that converts what the graph had. Integers and
/// what is small (norms) stay as they are.
std::shared_ptr<const Graph> convert_weights(const Graph& graph, DType to);

}  // namespace stormcell
