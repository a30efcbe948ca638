#include "core/runtime/next_use.h"

#include <algorithm>

namespace stormcell {

ProgramTurns::ProgramTurns(const Program& program) : steps_(static_cast<int64_t>(program.steps.size())) {
  // An inner repeat ends before those around it.
  for (int32_t s = 0; s < static_cast<int32_t>(steps_); ++s)
    if (program.steps[s].kind == StepKind::repeat_end) repeats_.push_back({program.steps[s].target, s + 1});
}

int64_t ProgramTurns::steps_until(int32_t at, int32_t step, bool passed) const {
  const bool comes = step >= at && !passed;
  const auto holds = [&](const Turn& t) { return t.begin <= at && at < t.end; };
  const auto turn = std::find_if(repeats_.begin(), repeats_.end(), holds);
  if (turn == repeats_.end()) return comes ? step - at : int64_t{step} - at + steps_;
  const int64_t rest = turn->end - at, whole = turn->end - turn->begin;
  if (turn->begin <= step && step < turn->end) return comes ? step - at : rest + step - turn->begin;
  // Behind the repeat, which runs at least once more, for all that is known.
  return rest + whole + (step >= turn->end ? step - turn->end : steps_ - turn->end + step);
}

}  // namespace stormcell
