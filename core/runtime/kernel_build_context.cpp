#include "core/runtime/kernel_build_context.h"

#include <optional>
#include <utility>

#include "core/graph/annotation_rules.h"

namespace stormcell {

WeightHandle KernelBuildContext::weight(size_t index, std::string layout, DType dtype) const {
  const WeightHandle handle = weights.request({weight_text(value(index)), std::move(layout), dtype});
  requested.push_back(handle);
  return handle;
}
WeightHandle KernelBuildContext::branch_weight(size_t index, std::string layout, DType dtype) const {
  const std::optional<PartPlace> place = part_place(program, step, index);
  if (!place) return weight(index, std::move(layout), dtype);
  const WeightHandle handle =
      weights.request({weight_text(value(index)), std::move(layout), dtype}, place->group,
                      is_pinned(value(index)) ? PartResidency::pinned : PartResidency::streamed);
  requested.push_back(handle);
  parts.decision = place->decision;
  parts.parts.push_back({place->group.branch, handle});
  return handle;
}
WeightHandle KernelBuildContext::plain_weight(size_t index) const {
  return weight(index, kPlainLayout, type(index).dtype);
}
WeightHandle KernelBuildContext::f32_weight(size_t index) const { return weight(index, kPlainF32Layout, DType::f32); }

int64_t KernelBuildContext::most_rows(size_t index) const {
  const Operand& o = program.operands[step.inputs[index]];
  return o.rows == kNone ? 1 : program.dims[o.rows].evaluate(bounds);
}

}  // namespace stormcell
