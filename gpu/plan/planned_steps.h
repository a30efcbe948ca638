// The steps of a program for a card, without CUDA: the kernel of each step, the operands that it reads, and the layout
// of memory. They are chosen and laid out by core/runtime, as on every device.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/align.h"
#include "core/base/id_vector.h"
#include "core/runtime/branch_rows.h"
#include "core/runtime/branches_computed.h"
#include "core/runtime/cell_chain.h"
#include "core/runtime/kernel_build_context.h"
#include "core/runtime/kernel_choice.h"
#include "core/runtime/record_room.h"
#include "core/runtime/segments.h"
#include "core/runtime/step_needs.h"

namespace stormcell::gpu {

class StepNodes;

/// The arguments of a kernel that come from its step, whatever it computes.
struct PlanKernel {
  std::string_view name;
  std::function<void(StepNodes&)> add_nodes;  ///< the launches of the step
  int64_t scratch_bytes = 0;
  std::vector<CellChain> chains;                 ///< of the values that a gather joins, in their order
  std::optional<std::vector<int64_t>> computed;  ///< a gather of all slots: the branches whose slots have rows
  std::optional<BranchRows> rows;                ///< a step over all branches: whose rows are whose
  BranchWeights weights;                         ///< of that step
};

/// A row of a device's list of kernels. `make` returns null if the kernel does not support the step.
struct PlanRow {
  std::string_view op, name;
  std::unique_ptr<PlanKernel> (*make)(const KernelBuildContext&);
  KernelKnows knows = {};
};

struct PlannedSteps {
  IdVector<int32_t, std::unique_ptr<PlanKernel>> kernels;  ///< by step of the program; null: it has none
  IdVector<int32_t, StepNeeds> needs;
  ExecutableLayout layout;
  RecordRoom records;  ///< of `layout`
};

/// Throws Error as choose_kernel() does if no row supports a step. The program must outlive the result.
inline PlannedSteps plan_steps(const Program& program, WeightStore& weights, const CompileOptions& options,
                               std::span<const PlanRow> rows) {
  ExecutableLayout layout;
  IdVector<int32_t, std::unique_ptr<PlanKernel>> kernels(program.steps.size());
  // A card has one thread of the host.
  auto needs = make_steps(program, weights, options.bounds, 1, [&](int32_t at, const KernelBuildContext& context) {
    kernels[at] = choose_kernel(rows, context, "CUDA");
    layout.scratch_bytes = std::max(layout.scratch_bytes, align_up(kernels[at]->scratch_bytes));
  });
  layout.memory = plan_memory(program, options.bounds, options.rows);
  layout.most_events = most_events(program, options.bounds);
  sort_weights(program, needs, weights, layout);
  layout.segments = segments_of(program, layout);
  RecordRoom records(program, layout, options.bounds, options.scores);
  return {std::move(kernels), std::move(needs), std::move(layout), std::move(records)};
}

}  // namespace stormcell::gpu
