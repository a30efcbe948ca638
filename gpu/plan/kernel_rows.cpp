#include "gpu/plan/kernel_rows.h"

#include <algorithm>
#include <array>

namespace stormcell::gpu {

// Each has a file in ops/, named as the operator.
std::unique_ptr<PlanKernel> plan_activation(const KernelBuildContext&), plan_add(const KernelBuildContext&),
    plan_add_constant(const KernelBuildContext&), plan_all_set(const KernelBuildContext&),
    plan_argmax(const KernelBuildContext&), plan_attention(const KernelBuildContext&),
    plan_branches_empty(const KernelBuildContext&), plan_branches_full(const KernelBuildContext&),
    plan_broadcast(const KernelBuildContext&), plan_choice_weight(const KernelBuildContext&),
    plan_compact(const KernelBuildContext&), plan_concat(const KernelBuildContext&),
    plan_conv2d(const KernelBuildContext&), plan_embedding(const KernelBuildContext&),
    plan_end_sequences(const KernelBuildContext&), plan_expand(const KernelBuildContext&),
    plan_extent(const KernelBuildContext&), plan_gather(const KernelBuildContext&),
    plan_grouped_linear(const KernelBuildContext&), plan_layer_norm(const KernelBuildContext&),
    plan_linear(const KernelBuildContext&), plan_members(const KernelBuildContext&),
    plan_multiply(const KernelBuildContext&), plan_pack(const KernelBuildContext&),
    plan_pool(const KernelBuildContext&), plan_positions(const KernelBuildContext&),
    plan_reduce(const KernelBuildContext&), plan_rms_norm(const KernelBuildContext&),
    plan_rotary(const KernelBuildContext&), plan_route(const KernelBuildContext&),
    plan_scale(const KernelBuildContext&), plan_scatter(const KernelBuildContext&),
    plan_standardize(const KernelBuildContext&), plan_state_fill(const KernelBuildContext&),
    plan_state_put(const KernelBuildContext&), plan_state_write(const KernelBuildContext&),
    plan_fold(const KernelBuildContext&), plan_merge_cells(const KernelBuildContext&),
    plan_pixel_shuffle(const KernelBuildContext&), plan_resize(const KernelBuildContext&),
    plan_unfold(const KernelBuildContext&), plan_zeros(const KernelBuildContext&),
    plan_grouped_conv2d(const KernelBuildContext&), plan_grouped_layer_norm(const KernelBuildContext&),
    plan_grouped_residual_blocks(const KernelBuildContext&), plan_residual_blocks(const KernelBuildContext&),
    plan_separable_conv2d(const KernelBuildContext&), plan_squared_distance(const KernelBuildContext&),
    plan_window_attention(const KernelBuildContext&);

namespace {
constexpr std::array kRows = {
    PlanRow{"activation", "activation", plan_activation, {.bf16_out = true}},
    PlanRow{"add", "add", plan_add},
    PlanRow{"add_constant", "add_constant", plan_add_constant},
    PlanRow{"all_set", "all_set", plan_all_set},
    PlanRow{"argmax", "argmax", plan_argmax},
    PlanRow{"attention", "attention", plan_attention, {.bf16_out = true}},
    PlanRow{"branches_empty", "branches_empty", plan_branches_empty},
    PlanRow{"branches_full", "branches_full", plan_branches_full},
    PlanRow{"broadcast", "broadcast", plan_broadcast},
    PlanRow{"choice_weight", "choice_weight", plan_choice_weight},
    PlanRow{"compact", "compact", plan_compact},
    PlanRow{"concat", "concat", plan_concat},
    PlanRow{"conv2d", "conv2d", plan_conv2d},
    PlanRow{"embedding", "embedding", plan_embedding},
    PlanRow{"end_sequences", "end_sequences", plan_end_sequences},
    PlanRow{"expand", "expand", plan_expand},
    PlanRow{"extent", "extent", plan_extent},
    PlanRow{"fold", "fold", plan_fold},
    PlanRow{"gather", "gather", plan_gather},
    PlanRow{"grouped_conv2d", "grouped_conv2d", plan_grouped_conv2d},
    PlanRow{"grouped_layer_norm", "grouped_layer_norm", plan_grouped_layer_norm},
    PlanRow{"grouped_linear",
            "grouped_linear.plain",
            plan_grouped_linear,
            {.bf16_in = true, .bf16_out = true, .formats = true}},
    PlanRow{"grouped_residual_blocks", "grouped_residual_blocks", plan_grouped_residual_blocks},
    PlanRow{"layer_norm", "layer_norm", plan_layer_norm},
    PlanRow{"linear", "linear.plain", plan_linear, {.bf16_in = true, .bf16_out = true, .formats = true}},
    PlanRow{"members", "members", plan_members},
    PlanRow{"merge_cells", "merge_cells", plan_merge_cells},
    PlanRow{"multiply", "multiply", plan_multiply, {.bf16_out = true}},
    PlanRow{"pack", "pack", plan_pack, {.bf16_in = true, .bf16_out = true}},
    PlanRow{"pixel_shuffle", "pixel_shuffle", plan_pixel_shuffle},
    PlanRow{"pool", "pool", plan_pool},
    PlanRow{"positions", "positions", plan_positions},
    PlanRow{"reduce", "reduce", plan_reduce},
    PlanRow{"residual_blocks", "residual_blocks", plan_residual_blocks},
    PlanRow{"resize", "resize", plan_resize},
    PlanRow{"rms_norm", "rms_norm", plan_rms_norm, {.bf16_out = true}},
    PlanRow{"rotary", "rotary", plan_rotary},
    PlanRow{"route", "route", plan_route},
    PlanRow{"scale", "scale", plan_scale},
    PlanRow{"scatter", "scatter", plan_scatter, {.bf16_in = true, .bf16_out = true}},
    PlanRow{"separable_conv2d", "separable_conv2d", plan_separable_conv2d},
    PlanRow{"squared_distance", "squared_distance", plan_squared_distance},
    PlanRow{"standardize", "standardize", plan_standardize},
    PlanRow{"state_fill", "state_fill", plan_state_fill},
    PlanRow{"state_put", "state_put", plan_state_put},
    PlanRow{"state_write", "state_write", plan_state_write},
    PlanRow{"unfold", "unfold", plan_unfold},
    PlanRow{"window_attention", "window_attention", plan_window_attention},
    PlanRow{"zeros", "zeros", plan_zeros},
};
}  // namespace

std::span<const PlanRow> plan_rows() { return kRows; }

std::vector<std::string_view> planned_operators() {
  std::vector<std::string_view> names;
  for (const PlanRow& row : kRows)
    if (std::find(names.begin(), names.end(), row.op) == names.end()) names.push_back(row.op);
  return names;
}

Bf16Rows planned_bf16_rows() { return bf16_rows(plan_rows()); }

}  // namespace stormcell::gpu
