#include "gpu/plan/pixel_nodes.h"

#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

PixelArgs pixels_of(const KernelBuildContext& m, PixelMap map) {
  const TensorType &x = m.type(0), &y = m.graph().value(m.node().outputs[0]).type;
  const auto extent = [](const TensorType& type, size_t i) { return static_cast<int32_t>(type.content[i].constant()); };
  PixelArgs a;
  a.map = map;
  a.height = extent(x, 0), a.width = extent(x, 1), a.channels = a.out_channels = extent(x, 2);
  if (y.content.size() == 3) a.out_height = extent(y, 0), a.out_width = extent(y, 1), a.out_channels = extent(y, 2);
  return a;
}

void set_grid(PixelArgs& args, const PatchGrid& grid) {
  args.grid_rows = static_cast<int32_t>(grid.rows()), args.grid_columns = static_cast<int32_t>(grid.columns());
  args.stride = static_cast<int32_t>(grid.stride);
  if (args.map != PixelMap::unfold) return;
  args.out_height = static_cast<int32_t>(grid.patch_height), args.out_width = static_cast<int32_t>(grid.patch_width);
}

// The result may share the map's memory. Threads run in any order, so the map is then read from a copy.
void add_pixels(StepNodes& nodes, const PixelArgs& of) {
  PixelArgs args = of;
  const Operand &from = nodes.input(0), &to = nodes.output(0);
  args.ref[PixelArgs::kX] = nodes.reads(0);
  args.ref[PixelArgs::kTo] = nodes.writes(0);
  if (from.buffer == to.buffer) {
    MoveArgs copy = moving(from, from);
    copy.ref[MoveArgs::kFrom] = nodes.reads(0);
    args.ref[PixelArgs::kX] = nodes.plan().scratch(nodes.most_rows(from) * from.row_bytes());
    add_move(nodes, copy, nodes.most_rows(from), {args.ref[PixelArgs::kX]});
    args.ref[PixelArgs::kX].access = Access::read;
  }
  nodes.add<PixelKernel>(args, nodes.blocks(nodes.most_rows(to) * to.width, PixelKernel::kThreads));
}

}  // namespace stormcell::gpu
