// Inputs that say where cells go: what they hold must be branches.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// An input of role label that a router by label reads, as it is or as scattered to a branch. It has a label for every
/// cell.
struct LabelInput {
  ValueId input = kNone;
  int32_t branches = 0;
  std::string router;
};
/// The inputs in running order of their routers.
std::vector<LabelInput> label_inputs(const Graph& graph);
/// Throws Error(bad_input) with the first label that is no branch of the router.
void check_labels(const Graph& graph, const LabelInput& input, std::span<const int32_t> labels);

}  // namespace stormcell
