// The parts that linear and grouped_linear share: a norm before the product, rows rounded to the weights' format, the product with
// all that follows it.
#pragma once
#include <optional>
#include <vector>

#include "core/graph/roles.h"
#include "gpu/plan/pointwise_nodes.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

struct PlannedProduct {
  PlannedProductArgs args;
  std::vector<int32_t> weights, biases;  ///< handles; by branch, or one
  Format multiplies = Format::f32;       ///< of the weights, and of the rows as they are multiplied
  std::optional<size_t> gain, multiply, residual;
  int32_t gain_handle = -1;
  float eps = 0;
  std::optional<size_t> decision;  ///< the step's input; of a product over all slots
};

/// Requests `count` weights from input `first` on. Nothing: their formats differ, or have no kernel.
std::optional<PlannedProduct> product_of(const KernelBuildContext& making, size_t first, size_t count, bool precise);
void add_product(StepNodes& nodes, const PlannedProduct& product);

}  // namespace stormcell::gpu
