// The same network, its routers decide at other thresholds.
#pragma once
#include <memory>

#include "core/cell/router_threshold.h"
#include "core/graph/graph.h"

namespace stormcell {

/// The graph with these thresholds; routers that it does not have are passed over, for another phase may have them.
/// Without thresholds it is the same object.
std::shared_ptr<const Graph> with_thresholds(std::shared_ptr<const Graph> graph, const RouterThresholds& thresholds);

}  // namespace stormcell
