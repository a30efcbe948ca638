#include <cmath>

#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

// Frequencies are worked out here: a power of another library may round otherwise.
std::unique_ptr<PlanKernel> plan_rotary(const KernelBuildContext& m) {
  const auto heads = static_cast<int32_t>(m.node().attributes.integer("heads"));
  const auto theta = static_cast<float>(m.node().attributes.real("theta"));
  return planned("rotary", [heads, theta](StepNodes& nodes) {
    RotaryArgs args;
    args.heads = heads;
    const auto head_dim = static_cast<int32_t>(nodes.input(0).width / heads);
    args.half = head_dim / 2;
    std::vector<float> frequencies;
    for (int32_t i = 0; i < args.half; ++i)
      frequencies.push_back(1.0f / std::pow(theta, static_cast<float>(2 * i) / static_cast<float>(head_dim)));
    args.frequencies = nodes.plan().constants(frequencies.data(), frequencies.size());
    args.ref[RotaryArgs::kFrom] = nodes.reads(0);
    args.ref[RotaryArgs::kPlaces] = nodes.reads(1);
    args.ref[RotaryArgs::kTo] = nodes.writes(0);
    const int64_t pairs = nodes.most_rows(nodes.output(0)) * heads * args.half;
    nodes.add<RotaryKernel>(args, nodes.blocks(pairs, RotaryKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
