// The visible list of passes, in the order in which the pipeline applies them. A new one: its file here, its row, its test.
// Vertical fusion comes after horizontal fusion: a norm that fed a scatter only then feeds a product.
#include <algorithm>
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

PassResult dead_path(const PassInput& input);
PassResult vertical_fusion(const PassInput& input);
PassResult horizontal_fusion(const PassInput& input);

namespace {
constexpr std::array kPasses = {
    Pass{"dead-path", "branches that got no cell are neither mapped nor packed, behind a guard", false, dead_path},
    Pass{"horizontal-fusion", "the products of all branches of a router become one grouped product over its slots", false,
         horizontal_fusion},
    Pass{"vertical-fusion", "scales, activations, gates, residuals and norms become part of the product beside them", false,
         vertical_fusion},
};
/// Ids of the contract whose passes are still to come.
constexpr std::string_view kPlanned[] = {"permanent-path", "constant-decision", "reorder",       "constant-folding",    "capacity",
                                         "kernel-tuning",  "quantize-bf16",     "quantize-int8", "speculative-routing", "weight-preload",
                                         "memory-plan",    "placement"};
}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass* find_pass(std::string_view id) {
  for (const Pass& pass : kPasses)
    if (pass.id == id) return &pass;
  return nullptr;
}

bool is_planned_pass(std::string_view id) { return std::find(std::begin(kPlanned), std::end(kPlanned), id) != std::end(kPlanned); }

}  // namespace stormcell
