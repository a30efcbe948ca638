// The first and the last step at which each buffer of a program lives.
#pragma once
#include "core/runtime/program.h"

namespace stormcell {

/// Sets `first` and `last` of every buffer: the first and the last step that touch it, in program order. A decision is
/// touched by every value whose rows it gives. A buffer that a repeat reads from outside lives through all its turns;
/// outputs outlive the last step.
void find_liveness(Program& program);

}  // namespace stormcell
