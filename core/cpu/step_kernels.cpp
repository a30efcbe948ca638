#include "core/cpu/step_kernels.h"

#include <algorithm>

#include "core/base/align.h"
#include "core/cpu/choose_kernel.h"

namespace stormcell::cpu {

StepKernels make_kernels(const Program& p, WeightStore& weights, const Bindings& bounds, int threads) {
  StepKernels made;
  made.of.resize(p.steps.size());
  made.needs = make_steps(p, weights, bounds, threads, [&](int32_t at, const KernelBuildContext& context) {
    StepKernel& of = made.of[at];
    of.in.resize(p.steps[at].inputs.size());
    of.out.resize(p.steps[at].outputs.size());
    of.kernel = choose_kernel(BuildContext{context});
    made.scratch_bytes = std::max(made.scratch_bytes, align_up(of.kernel->scratch_bytes()));
  });
  return made;
}

}  // namespace stormcell::cpu
