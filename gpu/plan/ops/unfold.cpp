#include "gpu/plan/pixel_nodes.h"

namespace stormcell::gpu {

// Every picture has all its patches, in succession: the row gives picture and place.
std::unique_ptr<PlanKernel> plan_unfold(const KernelBuildContext& m) {
  PixelArgs args = pixels_of(m, PixelMap::unfold);
  set_grid(args, grid_of_unfold(m.graph(), m.node()));
  return planned("unfold", [args](StepNodes& nodes) { add_pixels(nodes, args); });
}

}  // namespace stormcell::gpu
