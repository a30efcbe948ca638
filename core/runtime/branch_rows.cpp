#include "core/runtime/branch_rows.h"

namespace stormcell {

BranchRows::BranchRows(const KernelBuildContext& context)
    : members_(context.graph().holds_members(SpaceId(context.node().attributes.integer("slots")))),
      from_cells_(context.type(0).space == context.value(1).type.space),
      branches_(context.value(1).branches) {}

}  // namespace stormcell
