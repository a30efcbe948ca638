// When a step of a program runs next: what decides which weights give way under a budget.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/runtime/program.h"

namespace stormcell {

/// Programs run again and again from their first step to their last, and a repeat from its first to its last as long as
/// it may: what stands in it comes again before what stands behind it.
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
