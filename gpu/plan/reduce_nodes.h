// Nodes that reduce rows (gpu/reduce/reduce.h).
#pragma once
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

/// Adds the node of input 0 and output 0.
inline void add_reduce(StepNodes& nodes, ReduceArgs args) {
  const Operand& from = nodes.input(0);
  args.width = static_cast<int32_t>(from.width);
  args.to = plan_format(nodes.output(0).dtype);
  args.ref[ReduceArgs::kFrom] = nodes.reads(0);
  args.ref[ReduceArgs::kTo] = nodes.writes(0);
  const bool by_row = args.what < Reduction::sum;  // a warp takes one
  if (!by_row) args.ref[ReduceArgs::kCells] = nodes.cells_of(from, args.ragged);
  const int64_t work = by_row ? nodes.most_rows(from) * 32 : nodes.most_rows(nodes.output(0)) * from.width;
  nodes.add<ReduceKernel>(args, nodes.blocks(work, ReduceKernel::kThreads));
}

}  // namespace stormcell::gpu
