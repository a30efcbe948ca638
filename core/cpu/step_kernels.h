// The kernels of a program's steps, made once when it is compiled, and what they need.
#pragma once
#include <memory>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {

struct StepKernel {
  std::unique_ptr<Kernel> kernel;     ///< nullptr: not a kernel step, and all else is empty
  std::vector<WeightHandle> weights;  ///< that it reads
  StepParts parts;                    ///< of those, the ones that stand in branches
  RouterId router = kNone;            ///< the one that decides there, if any
  int32_t ragged = -1;                ///< the ragged value that it computes; -1: none
  std::vector<Rows> in, out;          ///< room for its operands: a step allocates nothing
};
struct StepKernels {
  IdVector<int32_t, StepKernel> of;  ///< by step of the program
  int64_t scratch_bytes = 0;         ///< the most that one of them needs
};
/// As choose_kernel() does for each step; throws what it throws.
StepKernels make_kernels(const Program& program, WeightStore& weights, const Bindings& bounds, int threads);

/// Sorts the handles that steps read: parts under a budget are read where they are used; of the others, those of fallbacks alone are loaded
/// when the first guard misses whose fallback reads them.
void sort_weights(const Program& program, const StepKernels& kernels, const WeightStore& weights, ExecutableLayout& layout);
/// Events of one execution: one a kernel, those of a repeat in each of its turns, as far as kMostEvents goes.
int32_t most_events(const Program& program, const Bindings& bounds);

}  // namespace stormcell::cpu
