#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_state_fill(const KernelBuildContext& m) {
  const double value = m.node().attributes.real("value");
  const uint32_t bits = m.type(0).dtype == DType::i32 ? static_cast<uint32_t>(static_cast<int32_t>(value))
                                                      : bits_of_float(static_cast<float>(value));
  return planned("state_fill", [bits](StepNodes& nodes) {
    MoveArgs args = moving(nodes.input(0), nodes.input(0));
    args.map = RowMap::fill;
    args.fill = bits;
    add_move(nodes, args, nodes.most_rows(nodes.input(0)), {nodes.changes(0)});
  });
}

}  // namespace stormcell::gpu
