// Memory that values of sibling branches share: the slots of their decision.
#pragma once
#include "core/runtime/program.h"

namespace stormcell {

/// Makes values of sibling branches share buffers of all slots of their decision, each value in its branch's slice.
/// Values alive while another branch runs (scattered rows of branches to come, results of branches for a gather) then
/// take no more memory than all slots have rows. A value that lives within one branch keeps a buffer of its own, of the
/// rows that one branch can get at most: branches run one after another, so those of different branches are never alive
/// at once. It lies in a slice of its branch if one is free meanwhile. Expects one buffer a value, with its liveness;
/// drops the buffers that are not used any more.
void share_slots(Program& program);

}  // namespace stormcell
