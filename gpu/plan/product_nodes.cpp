#include "gpu/plan/product_nodes.h"

#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::optional<PlannedProduct> product_of(const KernelBuildContext& m, size_t first, size_t count, bool precise) {
  const Node& node = m.node();
  PlannedProduct p;
  const DType format = format_in_products(m.value(first));
  for (size_t i = first; i < first + count; ++i)
    if (format_in_products(m.value(i)) != format || format_of(format_in_products(m.value(i))).is_blocks()) return {};
  const bool rounds = format_of(format).rounds_rows && !precise;
  p.multiplies = rounds ? Format::bf16 : Format::f32;
  p.gain = extra_input(node, "gain");
  if (m.reads(0) != DType::f32 && (!rounds || p.gain)) return {};
  for (size_t i = first; i < first + count; ++i)
    p.weights.push_back(static_cast<int32_t>(rounds ? m.branch_weight(i, kPlainLayout, format)
                                                    : m.branch_weight(i, kPlainF32Layout, DType::f32)));
  if (p.gain) {
    p.gain_handle = static_cast<int32_t>(m.f32_weight(*p.gain));
    p.eps = static_cast<float>(node.attributes.real("eps"));
  }
  p.multiply = extra_input(node, "multiply"), p.residual = extra_input(node, "residual");
  p.args.n = static_cast<int32_t>(m.type(first).content[0].constant());
  p.args.k = static_cast<int32_t>(m.type(first).content[1].constant());
  p.args.scale = static_cast<float>(real_of(node, "scale"));
  p.args.activation = activation_of(word_of(node, "activation"));
  p.args.residual_first = flag_of(node, "residual_first");
  return p;
}

namespace {

/// The rows that are multiplied: in place, or normed or rounded in scratch.
Ref rows_of(StepNodes& nodes, const PlannedProduct& p) {
  const Operand& x = nodes.input(0);
  const Format lies = plan_format(x.dtype);
  if (!p.gain && lies == p.multiplies) return nodes.reads(0);
  Ref rows = nodes.plan().scratch(nodes.most_rows(x) * p.args.k * bytes_of(p.multiplies));
  if (p.gain) {
    ReduceArgs args;
    args.gain = p.gain_handle, args.eps = p.eps;
    args.width = p.args.k, args.to = p.multiplies;
    args.ref[ReduceArgs::kFrom] = nodes.reads(0), args.ref[ReduceArgs::kTo] = rows;
    nodes.add<ReduceKernel>(args, nodes.blocks(nodes.most_rows(x) * 32, ReduceKernel::kThreads));
  } else {
    MoveArgs args = moving(x, x);
    args.to = p.multiplies;
    args.number_bytes = static_cast<int32_t>(bytes_of(args.to));
    args.ref[MoveArgs::kFrom] = nodes.reads(0);
    add_move(nodes, args, nodes.most_rows(x), {rows});
  }
  rows.access = Access::read;
  return rows;
}

}  // namespace

void add_product(StepNodes& nodes, const PlannedProduct& p) {
  PlannedProductArgs args = p.args;
  args.ref[PlannedProductArgs::kX] = rows_of(nodes, p);
  args.ref[PlannedProductArgs::kTo] = nodes.writes(0);
  if (p.multiply) args.ref[PlannedProductArgs::kMultiply] = nodes.reads(*p.multiply);
  if (p.residual) args.ref[PlannedProductArgs::kResidual] = nodes.reads(*p.residual);
  if (p.decision) {
    args.ref[PlannedProductArgs::kDecision] = nodes.reads(*p.decision);
    const auto tiles = nodes.plan().map_of(nodes.step().inputs[*p.decision], nodes.output(0).ragged);
    args.ref[PlannedProductArgs::kMap] = tiles.map;
    args.ref[PlannedProductArgs::kOffsets] = tiles.offsets;
    args.decision = nodes.decision(*p.decision);
  }
  args.handles = nodes.plan().constants(p.weights.data(), p.weights.size());
  args.biases = nodes.plan().constants(p.biases.data(), p.biases.size());
  args.to = plan_format(nodes.output(0).dtype);
  constexpr int64_t kTile = PlainTile<1>::kRows;
  // Each branch may end with a partial tile.
  const int64_t tiles = (parts(nodes.most_rows(nodes.output(0)), kTile) + std::ssize(p.weights)) *
                        parts<int64_t>(args.n, PlainTile<1>::kColumns);
  const int64_t blocks = nodes.blocks(tiles, 1);
  if (p.multiplies == Format::bf16)
    nodes.add<PlannedProductKernel<Bf16>>(args, blocks);
  else
    nodes.add<PlannedProductKernel<float>>(args, blocks);
}

}  // namespace stormcell::gpu
