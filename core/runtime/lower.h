// From graph to program: the steps, which value lies in which buffer, and from which step to which each buffer lives.
#pragma once
#include "core/runtime/program.h"

namespace stormcell {

/// Turns a graph into steps: branches one after another on their exact rows, absent ones skipped, each decision
/// recorded.
Program lower(std::shared_ptr<const Graph> graph);

}  // namespace stormcell
