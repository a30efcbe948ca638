#include "gpu/plan/pixel_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_pixel_shuffle(const KernelBuildContext& m) {
  PixelArgs args = pixels_of(m, PixelMap::shuffle);
  args.factor = static_cast<int32_t>(m.node().attributes.integer("factor"));
  return planned("pixel_shuffle", [args](StepNodes& nodes) { add_pixels(nodes, args); });
}

}  // namespace stormcell::gpu
