#include "gpu/plan/branch_question.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_branches_full(const KernelBuildContext& m) {
  return plan_branch_question(m, "branches_full", Deciding::branches_full);
}

}  // namespace stormcell::gpu
