#include "core/cpu/choose_kernel.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/annotation_rules.h"

namespace stormcell::cpu {

// One file in ops/ each, named as the operator. Gather and linear have two kernels, conv2d has three; the three of an exchange, and those
// of grouped_conv2d, are one file.
std::unique_ptr<Kernel> make_embedding(const Making&), make_linear(const Making&), make_linear_plain(const Making&),
    make_grouped_linear(const Making&), make_conv2d(const Making&), make_rms_norm(const Making&), make_activation(const Making&),
    make_add(const Making&), make_multiply(const Making&), make_scale(const Making&), make_attention(const Making&),
    make_rotary(const Making&), make_positions(const Making&), make_pool(const Making&), make_reduce(const Making&),
    make_broadcast(const Making&), make_argmax(const Making&), make_route(const Making&), make_scatter(const Making&),
    make_compact(const Making&), make_members(const Making&), make_pack(const Making&), make_expand(const Making&),
    make_gather_slots(const Making&), make_gather_chains(const Making&), make_extent(const Making&), make_add_constant(const Making&),
    make_end_sequences(const Making&), make_all_set(const Making&), make_branches_empty(const Making&), make_branches_full(const Making&),
    make_state_fill(const Making&), make_state_write(const Making&), make_state_put(const Making&), make_choice_weight(const Making&),
    make_resize(const Making&), make_unfold(const Making&), make_fold(const Making&), make_pixel_shuffle(const Making&),
    make_concat(const Making&), make_conv2d_direct(const Making&), make_standardize(const Making&), make_squared_distance(const Making&),
    make_conv2d_planar(const Making&), make_residual_blocks(const Making&), make_exchange_decision(const Making&),
    make_exchange_rows(const Making&), make_exchange_back(const Making&), make_layer_norm(const Making&), make_merge_cells(const Making&),
    make_window_attention(const Making&), make_grouped_conv2d_planar(const Making&), make_grouped_conv2d_direct(const Making&),
    make_grouped_conv2d(const Making&), make_grouped_residual_blocks(const Making&), make_grouped_layer_norm(const Making&),
    make_zeros(const Making&), make_separable_conv2d(const Making&);

namespace {
constexpr std::array kKernels = {
    KernelRow{"embedding", "embedding.rows", make_embedding},
    KernelRow{"linear", "linear.panels", make_linear, {.bf16_in = true, .bf16_out = true, .formats = true}},
    KernelRow{"linear", "linear.plain", make_linear_plain},
    KernelRow{"grouped_linear", "grouped_linear.panels", make_grouped_linear, {.bf16_in = true, .bf16_out = true, .formats = true}},
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

/// What a kernel must know to run this step and the row does not; empty: the row knows everything that the step asks.
std::string not_known(const Making& making, const KernelRow& row) {
  const Node& node = making.node();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& v = making.value(i);
    if (v.kind == ValueKind::weight) {
      const bool is_matrix = v.type.content.size() > 1;
      if (!(row.knows.formats && is_matrix) && format_in_products(v) != v.type.dtype)
        return "holds weight %" + v.name + " in " + std::string(to_text(format_in_products(v)));
    } else if (format_in_memory(v) != v.type.dtype && !(row.knows.bf16_in && i == 0)) {
      return "reads %" + v.name + " in bf16";
    }
  }
  for (const ValueId v : node.outputs)
    if (const Value& made = making.graph().value(v); !row.knows.bf16_out && format_in_memory(made) != made.type.dtype)
      return "writes %" + made.name + " in bf16";
  return {};
}

/// Says what no kernel supports, or not the one that is asked for, and which ones would do.
[[noreturn]] void refuse(const Making& making, const std::string* asked) {
  const Node& node = making.node();
  std::string of_operator, would_do, unknown;
  bool is_there = false, none_knows = true;
  for (const KernelRow& row : kKernels) {
    if (row.op != node.op->name) continue;
    const auto add = [&](std::string& words) { add_to_list(words, row.name, " "); };
    add(of_operator);
    is_there = is_there || (asked && row.name == *asked);
    const std::string lacks = not_known(making, row);
    if (unknown.empty()) unknown = lacks;
    none_knows = none_knows && !lacks.empty();
    if (lacks.empty() && row.make(making)) add(would_do);
  }
  const std::string where = node_text(node);
  if (asked && !is_there)
    bad_input(where, "expected kernel " + listed(of_operator) + ", got \"" + *asked + "\"",
              "inspect MODEL lists the kernels of each operator");
  if (asked)
    bad_input(where, "kernel " + *asked + " does not support this case", would_do.empty() ? "no other does" : listed(would_do) + " does");
  if (none_knows) bad_input(where, "no kernel " + unknown, "leave that annotation out");
  const bool annotated = [&] {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!making.value(i).annotations.empty()) return true;
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return !making.graph().value(v).annotations.empty(); });
  }();
  if (annotated) bad_input(where, "no kernel supports the formats of its operands together", "leave an annotation out");
  failed(where, "no CPU kernel");
}

}  // namespace

std::span<const KernelRow> kernel_list() { return kKernels; }

std::vector<std::string> kernel_names(std::string_view op) {
  std::vector<std::string> names;
  for (const KernelRow& row : kKernels)
    if (row.op == op) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Kernel> choose_kernel(const Making& making) {
  const Node& node = making.node();
  const std::string* asked = node.annotations.find(kKernel);
  for (const KernelRow& row : kKernels)
    if (row.op == node.op->name && (!asked || row.name == *asked) && not_known(making, row).empty())
      if (auto kernel = row.make(making)) return kernel;
  refuse(making, asked);
}

Bf16Rows bf16_rows() {
  Bf16Rows rows;
  for (const KernelRow& row : kKernels) {
    if (row.knows.bf16_in) rows.read.push_back(row.op);
    if (row.knows.bf16_out) rows.write.push_back(row.op);
  }
  return rows;
}

}  // namespace stormcell::cpu
