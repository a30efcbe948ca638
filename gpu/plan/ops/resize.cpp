#include "gpu/plan/pixel_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_resize(const KernelBuildContext& m) {
  const bool nearest = m.node().attributes.word("mode") == "nearest";
  const PixelArgs args = pixels_of(m, nearest ? PixelMap::nearest : PixelMap::bilinear);
  return planned("resize", [args](StepNodes& nodes) { add_pixels(nodes, args); });
}

}  // namespace stormcell::gpu
