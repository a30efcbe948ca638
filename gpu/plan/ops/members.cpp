#include <algorithm>

#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

// The base's rows are not read, so a dense base's extent must be requested separately.
std::unique_ptr<PlanKernel> plan_members(const KernelBuildContext& m) {
  const CellSpace& base = m.graph().space(SpaceId(m.node().attributes.integer("base")));
  const Dim per_parent = base.kind == SpaceKind::dense ? base.per_parent : Dim(0);
  const auto& dims = m.program.dims;
  if (!per_parent.is_constant() && std::find(dims.begin(), dims.end(), per_parent) == dims.end()) return nullptr;
  return planned("members", [per_parent](StepNodes& nodes) {
    MembersArgs args;
    args.decision = nodes.decision(0);
    args.ref[MembersArgs::kDecision] = nodes.reads(0);
    args.ref[MembersArgs::kTo] = nodes.writes(0);
    args.to = nodes.plan().ragged_places(nodes.step().outputs[0]);
    if (nodes.step().inputs.size() > 1) {
      args.ref[MembersArgs::kBase] = nodes.reads(1);
      args.base = nodes.plan().ragged_places(nodes.step().inputs[1]);
    } else if (per_parent.is_constant()) {
      args.per_parent = static_cast<int32_t>(per_parent.constant());
    } else {
      args.extent = *nodes.plan().extent_place(per_parent);
    }
    nodes.add<MembersKernel>(args, 1);
    args.ref[MembersArgs::kTo].access = Access::both;
    nodes.add<MemberCellsKernel>(args,
                                 nodes.blocks(nodes.most(nodes.output(0).ragged_cells), MemberCellsKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
