// The CPU's kernels of a program's steps, made once when it is compiled.
#pragma once
#include <memory>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/cpu_kernel.h"
#include "core/runtime/step_needs.h"

namespace stormcell::cpu {

struct StepKernel {
  std::unique_ptr<Kernel> kernel;  ///< nullptr: not a step with a kernel, and all else is empty
  std::vector<Rows> in, out;       ///< room for its operands: a step allocates nothing
};
struct StepKernels {
  IdVector<int32_t, StepKernel> of;    ///< by step of the program
  IdVector<int32_t, StepNeeds> needs;  ///< the same
  int64_t scratch_bytes = 0;           ///< the most that one of them needs
};
/// Calls choose_kernel() for each step; throws what it throws.
StepKernels make_kernels(const Program& program, WeightStore& weights, const Bindings& bounds, int threads);

}  // namespace stormcell::cpu
