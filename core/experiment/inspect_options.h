// The options of inspect, as a user gives them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

struct InspectOptions {
  std::string model;
  std::string size;                      ///< of the pictures, "48x64"; empty: as the model states it
  std::string phase = "forward";         ///< or "decode": whose graph
  std::vector<std::string> annotations;  ///< said of the graph, NAME.KEY=WORD each
  /// stormcell.config/1, as text, and what errors call it: of the graph as its passes leave it
  std::string config, config_name;
  bool segments = false;      ///< the plan's, too
  int64_t weight_budget = 0;  ///< of the plan, bytes; 0: none
};

}  // namespace stormcell
