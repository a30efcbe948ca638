// The graph that inspect shows: of a phase, with annotations, as the passes of a configuration leave it.
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
  std::vector<std::string> warnings;  ///< what of annotations and configuration has no effect, or does not hold here
};
/// Checked as a run would be on `device`, with the same errors and warnings but for what only data tell: their padding
/// is taken to be as the configuration's data had it. Throws Error(bad_input).
InspectedGraph inspected_graph(const Model& model, Device& device, const InspectOptions& options);

/// Symbols of the case that costs and layouts are stated for: eight sequences of 128 cells, as far as the model takes
/// them.
Bindings typical_case(const Model& model, const Graph& graph);

}  // namespace stormcell
