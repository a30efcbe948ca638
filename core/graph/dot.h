// A graph as Graphviz reads it: routers are highlighted, branches and bodies are framed, alike branches are drawn once.
#pragma once
#include <string>

#include "core/graph/graph.h"

namespace stormcell {

struct DotOptions {
  bool collapse_alike = true;  ///< branches of one router that differ only in their weights become one frame: "0..7 x8"
};
std::string to_dot(const Graph& graph, const DotOptions& options = {});

}  // namespace stormcell
