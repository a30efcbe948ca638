// The steps of a program that have kernels: what each needs beside its code, made once when the program is compiled.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/id_vector.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell {

struct StepNeeds {
  std::vector<WeightHandle> weights;  ///< weights that it reads
  StepParts parts;                    ///< the parts among those, which stand in branches
  RouterId router = kNone;            ///< the one that decides there, if any
  int32_t ragged = -1;                ///< the ragged value that it computes; -1: none
};

/// A device makes a kernel for the step.
inline bool has_kernel(const Step& step) { return step.kind == StepKind::kernel || step.kind == StepKind::send; }

/// Calls make(step's index, KernelBuildContext) for each step with a kernel, in order; it makes the kernel in whatever
/// form the device has. Returns by step what the kernels asked for.
IdVector<int32_t, StepNeeds> make_steps(const Program& program, WeightStore& weights, const Bindings& bounds,
                                        int threads,
                                        const std::function<void(int32_t, const KernelBuildContext&)>& make);

/// Fills the weights of `layout`. Parts under a budget are loaded where a step uses them. Weights that only fallbacks
/// read are loaded when the first guard of one of these fallbacks misses. All others are loaded before the first
/// submission.
void sort_weights(const Program& program, const IdVector<int32_t, StepNeeds>& needs, const WeightStore& weights,
                  ExecutableLayout& layout);
/// Events of one execution: one for each kernel, within repeats one for each turn; at most kMostEvents.
int32_t most_events(const Program& program, const Bindings& bounds);

}  // namespace stormcell
