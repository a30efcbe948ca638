#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

// The result may share the memory of the rows. Threads run in any order, so the rows are then read from a copy.
std::unique_ptr<PlanKernel> plan_expand(const KernelBuildContext& m) {
  if (m.reads(0) != m.writes(0)) return nullptr;
  return planned("expand", [](StepNodes& nodes) {
    const Operand &rows = nodes.input(0), &all = nodes.output(0);
    MoveArgs args = moving(rows, all);
    args.map = RowMap::by_place;
    args.ref[MoveArgs::kFrom] = nodes.reads(0);
    args.ref[MoveArgs::kTell] = nodes.reads(1);
    args.ragged = nodes.plan().ragged_places(nodes.step().inputs[1]);
    if (rows.buffer == all.buffer) {
      MoveArgs copy = moving(rows, rows);
      copy.ref[MoveArgs::kFrom] = nodes.reads(0);
      const Ref copied = nodes.plan().scratch(nodes.most_rows(rows) * rows.row_bytes());
      add_move(nodes, copy, nodes.most_rows(rows), {copied});
      args.ref[MoveArgs::kFrom] = copied;
      args.ref[MoveArgs::kFrom].access = Access::read;
    }
    add_move(nodes, args, nodes.most_rows(all), {nodes.writes(0)});
  });
}

}  // namespace stormcell::gpu
