#include "core/cpu/step_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/align.h"
#include "core/cpu/choose_kernel.h"

namespace stormcell::cpu {

StepKernels make_kernels(const Program& p, WeightStore& weights, const Bindings& bounds, int threads) {
  StepKernels made;
  made.of.resize(p.steps.size());
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const Step& step = p.steps[i];
    if (step.kind != StepKind::kernel && step.kind != StepKind::send) continue;
    StepKernel& of = made.of[i];
    of.in.resize(step.inputs.size());
    of.out.resize(step.outputs.size());
    of.kernel = choose_kernel({p, step, weights, bounds, threads, of.weights, of.parts});
    made.scratch_bytes = std::max(made.scratch_bytes, align_up(of.kernel->scratch_bytes()));
    for (const RouterId r : p.routers.ids())
      if (p.routers[r].node == step.node) of.router = r;
    for (size_t r = 0; r < p.raggeds.size(); ++r)
      if (!step.outputs.empty() && p.raggeds[r] == step.outputs[0]) of.ragged = static_cast<int32_t>(r);
  }
  return made;
}

void sort_weights(const Program& p, const StepKernels& kernels, const WeightStore& weights, ExecutableLayout& layout) {
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const StepParts& of = kernels.of[i].parts;
    const auto is_part = [&](const PartUse& part) { return weights.is_part(part.handle); };
    if (std::any_of(of.parts.begin(), of.parts.end(), is_part)) layout.sites.push_back({static_cast<int32_t>(i), of.decision, of.parts});
  }
  layout.lazy.resize(p.guards.size());
  std::map<WeightHandle, std::set<GuardId>> guards;  // kNone: a step outside of fallbacks
  for (size_t i = 0; i < p.steps.size(); ++i)
    for (const WeightHandle handle : kernels.of[i].weights)
      if (!weights.is_part(handle)) guards[handle].insert(p.steps[i].fallback);
  for (const auto& [handle, readers] : guards) {
    if (readers.contains(kNone)) {
      layout.always.push_back(handle);
    } else {
      for (const GuardId guard : readers) layout.lazy[guard].push_back(handle);
    }
  }
}

int32_t most_events(const Program& p, const Bindings& bounds) {
  int64_t events = 0;
  std::vector<int64_t> turns{1};  // of the repeats that are open
  for (const Step& step : p.steps) {
    if (step.kind == StepKind::kernel) events += turns.back();
    if (step.kind == StepKind::repeat_end) turns.pop_back();
    if (step.kind == StepKind::repeat_begin)
      turns.push_back(std::clamp<int64_t>(turns.back() * p.dims[step.most].evaluate(bounds), 0, kMostEvents));
  }
  return static_cast<int32_t>(std::min<int64_t>(events, kMostEvents));
}

}  // namespace stormcell::cpu
