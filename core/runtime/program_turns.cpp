#include "core/runtime/program_turns.h"

#include <algorithm>

namespace stormcell {

ProgramTurns::ProgramTurns(const Program& program) : steps_(std::ssize(program.steps)) {
  // An inner repeat ends before those around it.
  for (int32_t s = 0; s < static_cast<int32_t>(steps_); ++s)
    if (program.steps[s].kind == StepKind::repeat_end) repeats_.push_back({program.steps[s].target, s + 1});
}

int64_t ProgramTurns::steps_until(int32_t at, int32_t step, bool passed) const {
  const bool comes = step >= at && !passed;
  const auto holds = [&](const Range& r) { return r.begin <= at && at < r.end; };
  const auto repeat = std::find_if(repeats_.begin(), repeats_.end(), holds);
  if (repeat == repeats_.end()) return comes ? step - at : int64_t{step} - at + steps_;
  const int64_t rest = repeat->end - at, whole = repeat->end - repeat->begin;
  if (repeat->begin <= step && step < repeat->end) return comes ? step - at : rest + step - repeat->begin;
  // The step is behind the repeat, which runs at least once more, for all that is known.
  return rest + whole + (step >= repeat->end ? step - repeat->end : steps_ - repeat->end + step);
}

}  // namespace stormcell
