// A model's structure together with its graph, read once.
#pragma once
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

struct InspectedModel {
  ModelStructure structure;
  std::string text;  ///< the graph in its text form
  std::string dot;   ///< the graph for Graphviz
};
/// `size`: of the pictures, "48x64"; empty: as the model states it. Error(bad_input) where the model takes none of that size.
/// `annotations`: said of the graph, NAME.KEY=WORD each.
InspectedModel inspect_with_graph(const std::string& model, const std::string& size = {}, const std::vector<std::string>& annotations = {});

}  // namespace stormcell
