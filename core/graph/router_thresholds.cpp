#include "core/graph/router_thresholds.h"

#include <algorithm>

#include "core/graph/roles.h"

namespace stormcell {

std::shared_ptr<const Graph> with_thresholds(std::shared_ptr<const Graph> graph, const RouterThresholds& thresholds) {
  if (thresholds.empty()) return graph;
  auto changed = std::make_shared<Graph>(*graph);
  for (Node& node : changed->nodes) {
    const auto said = std::find_if(thresholds.begin(), thresholds.end(),
                                   [&](const RouterThreshold& t) { return t.router == node.name; });
    if (said != thresholds.end() && is_route(node)) node.attributes.set("threshold", said->threshold);
  }
  return changed;
}

}  // namespace stormcell
