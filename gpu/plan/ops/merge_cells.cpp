#include "core/graph/roles.h"
#include "gpu/plan/pixel_nodes.h"

namespace stormcell::gpu {

// The cells of a parent are the pixels of a map.
std::unique_ptr<PlanKernel> plan_merge_cells(const KernelBuildContext& m) {
  PixelArgs args;
  args.map = PixelMap::merge;
  args.height = static_cast<int32_t>(m.node().attributes.integer("height"));
  args.width = static_cast<int32_t>(m.node().attributes.integer("width"));
  args.grid_rows = args.height / 2, args.grid_columns = args.width / 2;
  args.channels = static_cast<int32_t>(m.type(0).content[0].constant()), args.out_channels = 4 * args.channels;
  args.by_columns = word_of(m.node(), "order") == "columns";
  return planned("merge_cells", [args](StepNodes& nodes) { add_pixels(nodes, args); });
}

}  // namespace stormcell::gpu
