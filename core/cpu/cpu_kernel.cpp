#include "core/cpu/cpu_kernel.h"

#include "core/base/error.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/weight_layouts.h"
#include "core/graph/annotation_rules.h"

namespace stormcell::cpu {

Activation parse_activation(std::string_view word) {
  if (word == "none") return Activation::none;
  if (word == "relu") return Activation::relu;
  if (word == "gelu") return Activation::gelu_erf;
  if (word == "gelu_tanh") return Activation::gelu_tanh;
  if (word == "silu") return Activation::silu;
  if (word == "tanh") return Activation::tanh;
  if (word == "sigmoid") return Activation::sigmoid;
  bad_input("attribute activation",
            "expected none, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got " + std::string(word));
}

WeightHandle BuildContext::panel_weight(size_t index, bool precise) const {
  const DType stored = value(index).type.dtype;
  if (block_kernels(stored)) return branch_weight(index, kPlainLayout, stored);
  // The stored number format, but f16, which has no dot product here, and what must not round its input.
  return branch_weight(index, kPanels, precise ? DType::f32 : panel_format(format_in_products(value(index))));
}

bool BuildContext::reads_halves(size_t input) const { return is_halves(reads(input)); }
bool BuildContext::writes_halves(size_t output) const { return is_halves(writes(output)); }

}  // namespace stormcell::cpu
