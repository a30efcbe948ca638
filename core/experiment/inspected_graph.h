// The graph that inspect shows: that of a phase, with annotations and the passes of a configuration.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/experiment/inspect_options.h"
#include "core/models/model.h"
#include "core/runtime/device.h"

namespace stormcell {

struct InspectedGraph {
  std::shared_ptr<const Graph> graph;
  std::vector<std::string> warnings;  ///< annotations and parts of the configuration without effect, or not valid here
};
/// Makes and checks the graph as a run on `device` would, with the same errors and warnings except those from data:
/// padding is assumed to be as in the configuration's data. Throws Error(bad_input).
InspectedGraph inspected_graph(const Model& model, Device& device, const InspectOptions& options);

/// Symbols of the case that costs and layouts are stated for: eight sequences of 128 cells, as far as the model takes
/// them.
Bindings typical_case(const Model& model, const Graph& graph);

}  // namespace stormcell
