// Compares two executions in the field: of a model and of its plan.
#pragma once
#include <string>

#include "core/graph/graph.h"
#include "core/oracle/residue_oracle.h"

namespace stormcell {

/// The first difference in outputs, in the cells that are no padding, or in the scores of routers, in words. Empty:
/// there is none. A forced decision hides its scores, so they are compared by themselves.
std::string field_difference(const Graph& model, const OracleInputs<Residue>& inputs,
                             const OracleResult<Residue>& expected, const OracleResult<Residue>& came);

}  // namespace stormcell
