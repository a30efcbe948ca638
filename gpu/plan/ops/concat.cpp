#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

// A node for each input. The rows are what the last extent has for each place before it.
std::unique_ptr<PlanKernel> plan_concat(const KernelBuildContext& m) {
  if (m.type(0).content.size() != 1) return nullptr;
  return planned("concat", [](StepNodes& nodes) {
    int32_t column = 0;
    for (size_t i = 0; i < nodes.step().inputs.size(); ++i) {
      MoveArgs args = moving(nodes.input(i), nodes.output(0));
      args.width = args.from_width = static_cast<int32_t>(nodes.input(i).width);
      args.to_column = column;
      args.piece = piece_of(args);
      args.ref[MoveArgs::kFrom] = nodes.reads(i);
      add_move(nodes, args, nodes.most_rows(nodes.output(0)), {nodes.writes(0)});
      column += args.width;
    }
  });
}

}  // namespace stormcell::gpu
