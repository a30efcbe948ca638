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
  std::vector<std::string> annotations;  ///< annotations of the graph, NAME.KEY=WORD each
  /// text of a stormcell.config/1 and its name in errors; inspects the graph that its passes leave
  std::string config, config_name;
  bool segments = false;      ///< the plan's, too
  int64_t weight_budget = 0;  ///< of the plan, bytes; 0: none
};

}  // namespace stormcell
