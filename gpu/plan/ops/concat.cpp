#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

// Makes a node for each input. Rows are those of the last extent at each place before it: the pixels of maps.
std::unique_ptr<PlanKernel> plan_concat(const KernelBuildContext& m) {
  std::vector<int32_t> columns;
  for (size_t i = 0; i < m.step.inputs.size(); ++i)
    columns.push_back(static_cast<int32_t>(m.type(i).content.back().constant()));
  return planned("concat", [columns](StepNodes& nodes) {
    int32_t column = 0;
    for (size_t i = 0; i < nodes.step().inputs.size(); ++i) {
      MoveArgs args = moving(nodes.input(i), nodes.output(0));
      args.width = args.from_width = columns[i];
      args.pixels = static_cast<int32_t>(nodes.input(i).width / columns[i]);
      args.to_width = static_cast<int32_t>(nodes.output(0).width / args.pixels);
      args.to_column = column;
      args.piece = piece_of(args);
      args.ref[MoveArgs::kFrom] = nodes.reads(i);
      add_move(nodes, args, nodes.most_rows(nodes.output(0)) * args.pixels, {nodes.writes(0)});
      column += args.width;
    }
  });
}

}  // namespace stormcell::gpu
