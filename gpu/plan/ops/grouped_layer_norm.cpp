#include "gpu/plan/branch_handles.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_grouped_layer_norm(const KernelBuildContext& m) {
  const BranchRows rows(m);
  constexpr size_t kFirst = 2;  // the gains
  const size_t branches = m.node().attributes.list("branches").size();
  if (rows.branches() > kMostExperts) return nullptr;
  ReduceArgs args;
  args.what = Reduction::layer_norm;
  args.eps = static_cast<float>(m.node().attributes.real("eps"));
  args.from_cells = rows.from_cells();
  const std::vector<int32_t> gains = handles_by_branch(m, rows, [&](size_t i) { return m.f32_weight(kFirst + i); });
  const std::vector<int32_t> shifts =
      handles_by_branch(m, rows, [&](size_t i) { return m.f32_weight(kFirst + branches + i); });
  return planned("grouped_layer_norm", [args, gains, shifts](StepNodes& nodes) {
    ReduceArgs a = args;
    const Operand& to = nodes.output(0);
    a.width = static_cast<int32_t>(to.width);
    a.ref[ReduceArgs::kFrom] = nodes.reads(0), a.ref[ReduceArgs::kTo] = nodes.writes(0);
    a.ref[ReduceArgs::kDecision] = nodes.reads(1);
    a.decision = nodes.decision(1);
    if (to.ragged != kNone)
      a.ref[ReduceArgs::kOffsets] = nodes.plan().map_of(nodes.step().inputs[1], to.ragged).offsets;
    a.gains = nodes.plan().constants(gains.data(), gains.size());
    a.shifts = nodes.plan().constants(shifts.data(), shifts.size());
    nodes.add<ReduceKernel>(a, nodes.blocks(nodes.most_rows(to) * 32, ReduceKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
