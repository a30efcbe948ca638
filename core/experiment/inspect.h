// A model's structure together with its graph, read once.
#pragma once
#include <string>

#include "core/experiment/inspect_options.h"
#include "core/summary/results.h"

namespace stormcell {

struct InspectedModel {
  ModelStructure structure;
  std::string text;      ///< the graph in its text form
  std::string dot;       ///< the graph for Graphviz
  std::string segments;  ///< the plan's tree of segments, a line each; where it was asked for
  std::string path;      ///< of the model's folder or file; empty: a preset
};
/// Loads no weights. Error(bad_input) that names the option where the model takes no pictures of that size, cannot
/// generate, or has branches beyond the budget.
InspectedModel inspect_with_graph(const InspectOptions& options);

}  // namespace stormcell
