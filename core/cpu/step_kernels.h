// The kernels of a program's steps, made once when it is compiled, and what they need.
#pragma once
#include <memory>
#include <vector>

#include "core/base/id_vector.h"
#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {

/// By step of the program.
struct StepKernels {
  IdVector<std::unique_ptr<Kernel>> kernel;  ///< nullptr: not a kernel step
  IdVector<std::vector<int32_t>> weights;    ///< handles that it reads
  IdVector<StepParts> parts;                 ///< of those, the ones that stand in branches
  IdVector<int32_t> router, ragged;          ///< the router that decides there; the ragged value that it computes; -1: none
  IdVector<std::vector<Rows>> in, out;       ///< room for its operands: a step allocates nothing
  int64_t scratch_bytes = 0;                 ///< the most that one of them needs
};
/// The row of kernel_list() that a node's annotation names, else the first that supports a step, makes its kernel. Throws Error(bad_input)
/// that names the node where an annotation asks for what no kernel supports.
StepKernels make_kernels(const Program& program, WeightStore& weights, const Bindings& bounds, int threads);

/// Sorts the handles that steps read: parts under a budget are read where they are used; of the others, those of fallbacks alone are loaded
/// when the first guard misses whose fallback reads them.
void sort_weights(const Program& program, const StepKernels& kernels, const WeightStore& weights, ExecutableLayout& layout);
/// Events of one execution: one a kernel, those of a repeat in each of its turns, as far as kMostEvents goes.
int32_t most_events(const Program& program, const Bindings& bounds);

}  // namespace stormcell::cpu
