// When a step of a program runs next: what decides which weights give way under a budget.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/runtime/program.h"

namespace stormcell {

/// The order of uses in a program: it runs again and again from its first step to its last, and so does a repeat as
/// long as it may. A step in a repeat comes again before the steps behind the repeat.
class ProgramTurns {
 public:
  explicit ProgramTurns(const Program& program);
  /// So many steps lie between `at` and the next time that `step` runs, if no step jumps; `passed`: it has run at this
  /// turn already, though it is `at` or lies behind it.
  int64_t steps_until(int32_t at, int32_t step, bool passed) const;

 private:
  /// Steps [begin, end).
  struct Range {
    int32_t begin, end;
  };
  int64_t steps_;
  std::vector<Range> repeats_;  // an inner one before those around it
};

}  // namespace stormcell
