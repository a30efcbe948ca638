#include "gpu/plan/pixel_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_fold(const KernelBuildContext& m) {
  PixelArgs args = pixels_of(m, PixelMap::fold);
  set_grid(args, grid_of_fold(m.graph(), m.node()));
  return planned("fold", [args](StepNodes& nodes) { add_pixels(nodes, args); });
}

}  // namespace stormcell::gpu
