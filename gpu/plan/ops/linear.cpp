#include "gpu/plan/product_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_linear(const KernelBuildContext& m) {
  std::optional<PlannedProduct> product = product_of(m, 1, 1, is_precise(m.node()));
  if (!product) return nullptr;
  if (const auto bias = extra_input(m.node(), "bias"))
    product->biases = {static_cast<int32_t>(m.f32_weight(*bias))}, product->args.has_bias = true;
  return planned("linear.plain", [product = std::move(*product)](StepNodes& nodes) { add_product(nodes, product); });
}

}  // namespace stormcell::gpu
