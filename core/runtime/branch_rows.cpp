#include "core/runtime/branch_rows.h"

namespace stormcell {

BranchRows::BranchRows(const StepMaking& making)
    : members_(making.graph().holds_members(SpaceId(making.node().attributes.integer("slots")))),
      from_cells_(making.type(0).space == making.value(1).type.space),
      branches_(making.value(1).branches) {}

}  // namespace stormcell
