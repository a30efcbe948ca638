// Operators that ask for the loads of listed branches.
#pragma once
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

/// The plan of operator `name`, whose attribute `branches` lists those that `question` is about.
inline std::unique_ptr<PlanKernel> plan_branch_question(const KernelBuildContext& m, const char* name,
                                                        Deciding question) {
  return planned(name, [listed = m.node().attributes.list("branches"), question](StepNodes& nodes) {
    const std::vector<int32_t> branches(listed.begin(), listed.end());
    DecideArgs args;
    args.what = question;
    args.branches = nodes.plan().constants(branches.data(), branches.size());
    args.count = static_cast<int32_t>(branches.size());
    args.decision = nodes.decision(0);
    args.ref[DecideArgs::kTo] = nodes.writes(0);
    args.ref[DecideArgs::kDecision] = nodes.reads(0);
    nodes.add<DecideKernel>(args, 1);
  });
}

}  // namespace stormcell::gpu
