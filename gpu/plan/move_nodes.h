// Nodes that move rows (gpu/rows/move.h).
#pragma once
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

/// Arguments that move whole rows of `from` to `to`: as they are, or into the format of `to`.
MoveArgs moving(const Operand& from, const Operand& to);
/// The most bytes that a thread may move at once: a divisor of rows and of their moved parts.
int32_t piece_of(const MoveArgs& args);
/// Adds the node; `most_rows`: of an output. The outputs are all alike.
void add_move(StepNodes& nodes, const MoveArgs& args, int64_t most_rows, const std::vector<Ref>& outputs);

}  // namespace stormcell::gpu
