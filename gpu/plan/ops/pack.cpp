#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_pack(const KernelBuildContext& m) {
  for (size_t i = 0; i < m.step.outputs.size(); ++i)
    if (m.writes(i) != m.writes(0)) return nullptr;
  return planned("pack", [](StepNodes& nodes) {
    MoveArgs args = moving(nodes.input(0), nodes.output(0));
    args.map = RowMap::by_member;
    args.ref[MoveArgs::kFrom] = nodes.reads(0);
    args.ref[MoveArgs::kTell] = nodes.reads(1);
    args.ragged = nodes.plan().ragged_places(nodes.step().inputs[1]);
    std::vector<Ref> outputs;
    for (size_t i = 0; i < nodes.step().outputs.size(); ++i) outputs.push_back(nodes.writes(i));
    add_move(nodes, args, nodes.most_rows(nodes.output(0)), outputs);
  });
}

}  // namespace stormcell::gpu
