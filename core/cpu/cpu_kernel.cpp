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
  bad_input("attribute activation", "expected none, relu, gelu, gelu_tanh, silu, tanh or sigmoid, got " + std::string(word));
}

WeightHandle Making::weight(size_t index, std::string layout, DType dtype) const {
  const WeightHandle handle = weights.request({weight_text(value(index)), std::move(layout), dtype});
  requested.push_back(handle);
  return handle;
}
WeightHandle Making::branch_weight(size_t index, std::string layout, DType dtype) const {
  const std::optional<PartPlace> place = part_place(program, step, index);
  if (!place) return weight(index, std::move(layout), dtype);
  const WeightHandle handle = weights.request({weight_text(value(index)), std::move(layout), dtype}, place->group,
                                              is_pinned(value(index)) ? PartResidency::pinned : PartResidency::streamed);
  requested.push_back(handle);
  parts.decision = place->decision;
  parts.parts.push_back({place->group.branch, handle});
  return handle;
}
WeightHandle Making::plain_weight(size_t index) const { return weight(index, kPlain, type(index).dtype); }
WeightHandle Making::f32_weight(size_t index) const { return weight(index, kPlainF32, DType::f32); }
WeightHandle Making::panel_weight(size_t index, bool precise) const {
  // The stored number format, but f16, which has no dot product here, and what must not round its input.
  return branch_weight(index, kPanels, precise ? DType::f32 : panel_format(format_in_products(value(index))));
}

bool Making::reads_halves(size_t input) const { return is_halves(reads(input)); }
bool Making::writes_halves(size_t output) const { return is_halves(writes(output)); }

int64_t Making::most_rows(size_t index) const {
  const Operand& o = program.operands[step.inputs[index]];
  return o.rows == kNone ? 1 : program.dims[o.rows].evaluate(bounds);
}

}  // namespace stormcell::cpu
