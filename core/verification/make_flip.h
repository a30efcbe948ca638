// Makes the flips that results list from the decisions of two executions.
#pragma once
#include <cstdint>

#include "core/summary/results.h"
#include "core/verification/compare_decisions.h"

namespace stormcell {

/// A cell that chose other branches than the reference's: the first of each side's own.
Flip choice_flip(int64_t batch, const JudgedDecision& reference, int64_t cell, const ChoiceDifference& difference);
/// A choice that one side dropped and the other kept.
Flip drop_flip(int64_t batch, const JudgedDecision& reference, int64_t cell, int32_t branch);
/// The same for a choice of the plan that the reference replayed, and that its rule of confidence would not give.
Flip drop_flip(int64_t batch, const JudgedDecision& reference, const Misplaced& by_plan);
/// A decision that one side alone made: its first branch there.
Flip one_sided_flip(int64_t batch, const JudgedDecision& decision, int64_t cell, int32_t Flip::*side);

}  // namespace stormcell
