#include "core/graph/roles.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_squared_distance(const KernelBuildContext& m) {
  DistanceArgs a;
  a.centres = static_cast<int32_t>(m.f32_weight(1));
  a.count = static_cast<int32_t>(m.type(1).content[0].constant());
  a.width = static_cast<int32_t>(m.type(0).content[0].constant());
  a.reciprocal = flag_of(m.node(), "reciprocal");
  return planned("squared_distance", [a](StepNodes& nodes) {
    DistanceArgs args = a;
    args.ref[DistanceArgs::kFrom] = nodes.reads(0);
    args.ref[DistanceArgs::kTo] = nodes.writes(0);
    const int64_t threads = nodes.most_rows(nodes.input(0)) * args.count * 32;
    nodes.add<DistanceKernel>(args, nodes.blocks(threads, DistanceKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
