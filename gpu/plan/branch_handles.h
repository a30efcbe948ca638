// Handles of weights by branch, for steps that compute all branches of a decision.
#pragma once
#include <vector>

#include "core/runtime/branch_rows.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell::gpu {

/// `request(i)` gives the weight of the branch that the node lists at place i; -1: a branch that it does not list.
template <class Request>
std::vector<int32_t> handles_by_branch(const KernelBuildContext& m, const BranchRows& rows, const Request& request) {
  const std::vector<int64_t>& listed = m.node().attributes.list("branches");
  std::vector<int32_t> handles(static_cast<size_t>(rows.branches()), -1);
  for (size_t i = 0; i < listed.size(); ++i) handles[listed[i]] = static_cast<int32_t>(request(i));
  return handles;
}

}  // namespace stormcell::gpu
