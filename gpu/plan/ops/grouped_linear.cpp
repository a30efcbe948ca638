#include "gpu/plan/branch_handles.h"
#include "gpu/plan/product_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_grouped_linear(const KernelBuildContext& m) {
  const Node& node = m.node();
  const BranchRows rows(m);
  if (rows.branches() > kMostExperts) return nullptr;
  const std::vector<int64_t>& branches = node.attributes.list("branches");
  std::optional<PlannedProduct> product = product_of(m, 2, branches.size(), false);
  if (!product) return nullptr;
  product->decision = 1;
  product->args.from_cells = rows.from_cells();
  const std::vector<int32_t> listed = std::move(product->weights);
  product->weights = handles_by_branch(m, rows, [&](size_t i) { return listed[i]; });
  if (owned_inputs(node) > branches.size()) {
    product->args.has_bias = true;
    product->biases = handles_by_branch(m, rows, [&](size_t i) { return m.f32_weight(2 + branches.size() + i); });
  }
  return planned("grouped_linear.plain",
                 [product = std::move(*product)](StepNodes& nodes) { add_product(nodes, product); });
}

}  // namespace stormcell::gpu
