// A model's structure together with its graph, read once.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell {

struct InspectedModel {
  ModelStructure structure;
  std::string text;  ///< the graph in its text form
  std::string dot;   ///< the graph for Graphviz
};
InspectedModel inspect_with_graph(const std::string& model);

}  // namespace stormcell
