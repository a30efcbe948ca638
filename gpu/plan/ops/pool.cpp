#include "core/graph/roles.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_pool(const KernelBuildContext& m) {
  const Node& node = m.node();
  const auto extent = [](const TensorType& type, size_t i) { return static_cast<int32_t>(type.content[i].constant()); };
  const TensorType &x = m.type(0), &y = m.graph().value(node.outputs[0]).type;
  PoolArgs a;
  a.height = extent(x, 0), a.width = extent(x, 1), a.channels = extent(x, 2);
  if (node.attributes.word("kind") == "global_average") {
    a.size_h = a.height, a.size_w = a.width;
  } else {
    a.out_height = extent(y, 0), a.out_width = extent(y, 1);
    a.size_h = a.size_w = static_cast<int32_t>(node.attributes.integer("size"));
    a.stride = static_cast<int32_t>(node.attributes.integer("stride"));
    a.padding = static_cast<int32_t>(integer_of(node, "padding"));
    a.largest = node.attributes.word("kind") == "max";
  }
  return planned("pool", [a](StepNodes& nodes) {
    PoolArgs args = a;
    args.ref[PoolArgs::kX] = nodes.reads(0);
    args.ref[PoolArgs::kTo] = nodes.writes(0);
    const Operand& to = nodes.output(0);
    nodes.add<PoolKernel>(args, nodes.blocks(nodes.most_rows(to) * to.width, PoolKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
