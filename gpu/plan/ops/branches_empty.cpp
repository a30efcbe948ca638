#include "gpu/plan/branch_question.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_branches_empty(const KernelBuildContext& m) {
  return plan_branch_question(m, "branches_empty", Deciding::branches_empty);
}

}  // namespace stormcell::gpu
