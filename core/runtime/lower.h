// Lowers a graph to a program: the steps, each value's buffer, and the steps from which to which each buffer lives.
#pragma once
#include "core/runtime/program.h"

namespace stormcell {

/// Turns a graph into steps: branches one after another on their exact rows, absent ones skipped, each decision
/// recorded.
Program lower(std::shared_ptr<const Graph> graph);

}  // namespace stormcell
