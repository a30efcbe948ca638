#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_branches_full(const KernelBuildContext& m) {
  return planned("branches_full", [listed = m.node().attributes.list("branches")](StepNodes& nodes) {
    const std::vector<int32_t> branches(listed.begin(), listed.end());
    DecideArgs args;
    args.what = Deciding::branches_full;
    args.branches = nodes.plan().constants(branches.data(), branches.size());
    args.count = static_cast<int32_t>(branches.size());
    args.decision = nodes.decision(0);
    args.ref[DecideArgs::kTo] = nodes.writes(0);
    args.ref[DecideArgs::kDecision] = nodes.reads(0);
    nodes.add<DecideKernel>(args, 1);
  });
}

}  // namespace stormcell::gpu
