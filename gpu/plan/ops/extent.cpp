#include <algorithm>

#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_extent(const KernelBuildContext& m) {
  const Dim extent = Dim::parse(m.node().attributes.word("extent"), m.graph().symbols, "extent");
  const auto& dims = m.program.dims;
  if (!extent.is_constant() && std::find(dims.begin(), dims.end(), extent) == dims.end()) return nullptr;
  return planned("extent", [extent](StepNodes& nodes) {
    DecideArgs args;
    args.what = Deciding::extent;
    if (extent.is_constant())
      args.number = static_cast<int32_t>(extent.constant());
    else
      args.dim = *nodes.plan().extent_place(extent);
    args.ref[DecideArgs::kTo] = nodes.writes(0);
    nodes.add<DecideKernel>(args, 1);
  });
}

}  // namespace stormcell::gpu
