#include "core/runtime/liveness.h"

#include <algorithm>

namespace stormcell {
namespace {

void touch(Program& program, OperandId operand, int32_t step) {
  for (OperandId o = operand; o != kNone; o = program.operands[o].decision) {
    const Operand& x = program.operands[o];
    if (x.ragged != kNone) touch(program, x.ragged, step);
    if (x.kind == BufferKind::weight) continue;
    ProgramBuffer& b = program.buffers[x.buffer];
    b.first = std::min(b.first, step);
    b.last = std::max(b.last, step);
  }
}

/// Keeps what a loop reads from outside alive for all its turns.
void outlive_loops(Program& program) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < program.steps.size(); ++s) {
      const Step& step = program.steps[s];
      if (step.kind != StepKind::repeat_begin) continue;
      const auto begin = static_cast<int32_t>(s), end = step.target - 1;
      for (ProgramBuffer& b : program.buffers)
        if (b.first < begin && b.last >= begin && b.last < end) b.last = end, changed = true;
    }
  }
}

}  // namespace

void find_liveness(Program& program) {
  for (ProgramBuffer& b : program.buffers) b.first = INT32_MAX, b.last = -1;
  const int32_t steps = program.steps.size();
  for (int32_t s = 0; s < steps; ++s) {
    for (const OperandId o : program.steps[s].inputs) touch(program, o, s);
    for (const OperandId o : program.steps[s].outputs) touch(program, o, s);
  }
  for (const OperandId o : program.outputs) touch(program, o, steps);
  outlive_loops(program);
  for (ProgramBuffer& b : program.buffers)
    if (b.last < 0) b.first = b.last = 0;
}

}  // namespace stormcell
