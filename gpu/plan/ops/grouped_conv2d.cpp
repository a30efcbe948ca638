#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/branch_handles.h"
#include "gpu/plan/conv_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_grouped_conv2d(const KernelBuildContext& m) {
  const Node& node = m.node();
  const BranchRows rows(m);
  constexpr size_t kFirst = 2;  // the weights
  const auto branches = node.attributes.list("branches").size();
  if (rows.branches() > kMostExperts || m.reads(0) != DType::f32) return nullptr;
  if (format_of(format_in_products(m.value(kFirst))).is_blocks()) return nullptr;
  const std::optional<ConvArgs> args = convolution_of(m, kFirst, integer_of(node, "groups"));
  if (!args) return nullptr;
  PlannedConvolution c{*args, {}, {}, size_t{1}};
  set_steps(node, c.args);
  c.args.rounds = rounds_maps(m, kFirst, c.args);
  c.args.from_cells = rows.from_cells();
  c.weights =
      handles_by_branch(m, rows, [&](size_t i) { return m.branch_weight(kFirst + i, kPlainF32Layout, DType::f32); });
  if (flag_of(node, "biases"))
    c.biases = handles_by_branch(m, rows, [&](size_t i) { return m.f32_weight(kFirst + branches + i); });
  const std::optional<size_t> residual = extra_input(node, "residual");
  return planned("grouped_conv2d", [c, residual](StepNodes& nodes) {
    add_convolution(nodes, c, {nodes.reads(0), nodes.writes(0), residual ? nodes.reads(*residual) : Ref()});
  });
}

}  // namespace stormcell::gpu
