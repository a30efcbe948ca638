// A model's structure together with its graph, read once.
#pragma once
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

struct InspectOptions {
  std::string model;
  std::string size;                      ///< of the pictures, "48x64"; empty: as the model states it
  std::string phase = "forward";         ///< or "decode": whose graph
  std::vector<std::string> annotations;  ///< said of the graph, NAME.KEY=WORD each
  std::string config, config_name;       ///< stormcell.config/1, as text, and what errors call it: of the graph as its passes leave it
  bool segments = false;                 ///< the plan's, too
  int64_t weight_budget = 0;             ///< of the plan, bytes; 0: none
};
struct InspectedModel {
  ModelStructure structure;
  std::string text;      ///< the graph in its text form
  std::string dot;       ///< the graph for Graphviz
  std::string segments;  ///< the plan's tree of segments, a line each; where it was asked for
};
/// Loads no weights. Error(bad_input) that names the option where the model takes no pictures of that size, cannot generate, or has
/// branches beyond the budget.
InspectedModel inspect_with_graph(const InspectOptions& options);

}  // namespace stormcell
