// From which step to which each buffer of a program lives.
#pragma once
#include "core/runtime/program.h"

namespace stormcell {

/// Sets `first` and `last` of every buffer: the first and the last step that touch it, in program order. A decision is
/// touched wherever a value is whose rows it gives. What a repeat reads from outside lives through all its turns;
/// outputs outlive the last step.
void find_liveness(Program& program);

}  // namespace stormcell
