// The physical limit of an execution that has happened: the closed-form cost of its graph, with the rows that really
// came.
#pragma once
#include "core/cost/graph_cost.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// The case that cost_of() is asked about one execution: the loads of its decisions (their mean over the turns of a
/// repeat), the turns taken, the part of its guards that held. Decisions that were not recorded count as even.
CostCase executed_case(const Program& program, const ExecutionResult& result, const Bindings& bindings);

}  // namespace stormcell
