#include "gpu/plan/reduce_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_reduce(const KernelBuildContext& m) {
  const std::string& mode = m.node().attributes.word("mode");
  ReduceArgs args;
  args.what = mode == "last" ? Reduction::last : mode == "mean" ? Reduction::mean : Reduction::sum;
  args.integers = m.type(0).dtype == DType::i32;
  return planned("reduce", [args](StepNodes& nodes) { add_reduce(nodes, args); });
}

}  // namespace stormcell::gpu
