#include "core/base/number_format.h"
#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_embedding(const KernelBuildContext& m) {
  if (format_of(m.type(1).dtype).is_blocks()) return nullptr;
  const bool as_stored = format_of(m.type(1).dtype).rounds_rows;
  const WeightHandle table = as_stored ? m.plain_weight(1) : m.f32_weight(1);
  return planned("embedding", [as_stored, table](StepNodes& nodes) {
    MoveArgs args = moving(nodes.output(0), nodes.output(0));
    args.map = RowMap::by_id;
    args.table = static_cast<int32_t>(table);
    if (as_stored) args.from = Format::bf16;
    args.ref[MoveArgs::kTell] = nodes.reads(0);
    add_move(nodes, args, nodes.most_rows(nodes.output(0)), {nodes.writes(0)});
  });
}

}  // namespace stormcell::gpu
