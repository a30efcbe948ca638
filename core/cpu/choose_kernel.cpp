#include "core/cpu/choose_kernel.h"

#include <array>

#include "core/cpu/cpu_device.h"

namespace stormcell::cpu {

// One file in ops/ each, named as the operator. Gather and grouped_linear have two kernels, linear and conv2d have
// three; the three of an exchange, and those of grouped_conv2d, are one file.
std::unique_ptr<Kernel> make_embedding(const BuildContext&), make_linear(const BuildContext&),
    make_linear_plain(const BuildContext&), make_grouped_linear(const BuildContext&), make_conv2d(const BuildContext&),
    make_rms_norm(const BuildContext&), make_activation(const BuildContext&), make_add(const BuildContext&),
    make_multiply(const BuildContext&), make_scale(const BuildContext&), make_attention(const BuildContext&),
    make_rotary(const BuildContext&), make_positions(const BuildContext&), make_pool(const BuildContext&),
    make_reduce(const BuildContext&), make_broadcast(const BuildContext&), make_argmax(const BuildContext&),
    make_route(const BuildContext&), make_scatter(const BuildContext&), make_compact(const BuildContext&),
    make_members(const BuildContext&), make_pack(const BuildContext&), make_expand(const BuildContext&),
    make_gather_slots(const BuildContext&), make_gather_chains(const BuildContext&), make_extent(const BuildContext&),
    make_add_constant(const BuildContext&), make_end_sequences(const BuildContext&), make_all_set(const BuildContext&),
    make_branches_empty(const BuildContext&), make_branches_full(const BuildContext&),
    make_state_fill(const BuildContext&), make_state_write(const BuildContext&), make_state_put(const BuildContext&),
    make_choice_weight(const BuildContext&), make_resize(const BuildContext&), make_unfold(const BuildContext&),
    make_fold(const BuildContext&), make_pixel_shuffle(const BuildContext&), make_concat(const BuildContext&),
    make_conv2d_direct(const BuildContext&), make_standardize(const BuildContext&),
    make_squared_distance(const BuildContext&), make_conv2d_planar(const BuildContext&),
    make_residual_blocks(const BuildContext&), make_exchange_decision(const BuildContext&),
    make_exchange_rows(const BuildContext&), make_exchange_back(const BuildContext&),
    make_layer_norm(const BuildContext&), make_merge_cells(const BuildContext&),
    make_window_attention(const BuildContext&), make_grouped_conv2d_planar(const BuildContext&),
    make_grouped_conv2d_direct(const BuildContext&), make_grouped_conv2d(const BuildContext&),
    make_grouped_residual_blocks(const BuildContext&), make_grouped_layer_norm(const BuildContext&),
    make_zeros(const BuildContext&), make_separable_conv2d(const BuildContext&), make_sample(const BuildContext&),
    make_linear_blocks(const BuildContext&), make_grouped_linear_blocks(const BuildContext&);

namespace {
constexpr std::array kKernels = {
    KernelRow{"embedding", "embedding.rows", make_embedding},
    KernelRow{"linear", "linear.panels", make_linear, {.bf16_in = true, .bf16_out = true, .formats = true}},
    KernelRow{"linear", "linear.blocks", make_linear_blocks, {.bf16_in = true, .bf16_out = true}},
    KernelRow{"linear", "linear.plain", make_linear_plain},
    KernelRow{"grouped_linear",
              "grouped_linear.panels",
              make_grouped_linear,
              {.bf16_in = true, .bf16_out = true, .formats = true}},
    KernelRow{
        "grouped_linear", "grouped_linear.blocks", make_grouped_linear_blocks, {.bf16_in = true, .bf16_out = true}},
    KernelRow{"conv2d", "conv2d.planar", make_conv2d_planar},
    KernelRow{"conv2d", "conv2d.direct", make_conv2d_direct},
    KernelRow{"conv2d", "conv2d.panels", make_conv2d},
    KernelRow{"grouped_conv2d", "grouped_conv2d.planar", make_grouped_conv2d_planar},
    KernelRow{"grouped_conv2d", "grouped_conv2d.direct", make_grouped_conv2d_direct},
    KernelRow{"grouped_conv2d", "grouped_conv2d.panels", make_grouped_conv2d},
    KernelRow{"separable_conv2d", "separable_conv2d", make_separable_conv2d},
    KernelRow{"rms_norm", "rms_norm", make_rms_norm, {.bf16_out = true}},
    KernelRow{"activation", "activation", make_activation, {.bf16_out = true}},
    KernelRow{"add", "add", make_add},
    KernelRow{"multiply", "multiply", make_multiply, {.bf16_out = true}},
    KernelRow{"scale", "scale", make_scale},
    KernelRow{"attention", "attention", make_attention, {.bf16_out = true}},
    KernelRow{"rotary", "rotary.halves", make_rotary},
    KernelRow{"positions", "positions", make_positions},
    KernelRow{"pool", "pool", make_pool},
    KernelRow{"reduce", "reduce", make_reduce},
    KernelRow{"broadcast", "broadcast", make_broadcast},
    KernelRow{"argmax", "argmax", make_argmax},
    KernelRow{"sample", "sample", make_sample},
    KernelRow{"route", "route", make_route},
    KernelRow{"scatter", "scatter.rows", make_scatter, {.bf16_in = true, .bf16_out = true}},
    KernelRow{"gather", "gather.slots", make_gather_slots},
    KernelRow{"gather", "gather.chains", make_gather_chains},
    KernelRow{"compact", "compact", make_compact},
    KernelRow{"members", "members", make_members},
    KernelRow{"pack", "pack.rows", make_pack, {.bf16_in = true, .bf16_out = true}},
    KernelRow{"expand", "expand.rows", make_expand},
    KernelRow{"choice_weight", "choice_weight", make_choice_weight},
    KernelRow{"zeros", "zeros", make_zeros},
    KernelRow{"resize", "resize", make_resize},
    KernelRow{"unfold", "unfold", make_unfold},
    KernelRow{"fold", "fold", make_fold},
    KernelRow{"pixel_shuffle", "pixel_shuffle", make_pixel_shuffle},
    KernelRow{"concat", "concat", make_concat},
    KernelRow{"standardize", "standardize", make_standardize},
    KernelRow{"squared_distance", "squared_distance", make_squared_distance},
    KernelRow{"layer_norm", "layer_norm", make_layer_norm},
    KernelRow{"grouped_layer_norm", "grouped_layer_norm", make_grouped_layer_norm},
    KernelRow{"merge_cells", "merge_cells", make_merge_cells},
    KernelRow{"window_attention", "window_attention", make_window_attention},
    KernelRow{"residual_blocks", "residual_blocks", make_residual_blocks},
    KernelRow{"grouped_residual_blocks", "grouped_residual_blocks", make_grouped_residual_blocks},
    KernelRow{"extent", "extent", make_extent},
    KernelRow{"add_constant", "add_constant", make_add_constant},
    KernelRow{"end_sequences", "end_sequences", make_end_sequences},
    KernelRow{"all_set", "all_set", make_all_set},
    KernelRow{"branches_empty", "branches_empty", make_branches_empty},
    KernelRow{"branches_full", "branches_full", make_branches_full},
    KernelRow{"state_fill", "state_fill", make_state_fill},
    KernelRow{"state_write", "state_write", make_state_write},
    KernelRow{"state_put", "state_put", make_state_put},
    KernelRow{"exchange_decision", "exchange_decision", make_exchange_decision},
    KernelRow{"exchange_rows", "exchange_rows", make_exchange_rows},
    KernelRow{"exchange_back", "exchange_back", make_exchange_back},
};

}  // namespace

std::span<const KernelRow> kernel_list() { return kKernels; }

std::vector<std::string> kernel_names(std::string_view op) { return stormcell::kernel_names(kernel_list(), op); }

std::unique_ptr<Kernel> choose_kernel(const BuildContext& making) {
  return stormcell::choose_kernel(kernel_list(), making, "CPU");
}

Bf16Rows bf16_rows() { return stormcell::bf16_rows(kernel_list()); }

}  // namespace stormcell::cpu
