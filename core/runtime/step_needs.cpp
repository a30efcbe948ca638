#include "core/runtime/step_needs.h"

#include <algorithm>
#include <map>
#include <set>

namespace stormcell {

namespace {

/// The router and the ragged value of a step; its kernel has not asked for weights yet.
StepNeeds needs_of(const Program& p, const Step& step) {
  StepNeeds needs;
  for (const RouterId r : p.routers.ids())
    if (p.routers[r].node == step.node) needs.router = r;
  for (size_t r = 0; r < p.raggeds.size(); ++r)
    if (!step.outputs.empty() && p.raggeds[r] == step.outputs[0]) needs.ragged = static_cast<int32_t>(r);
  return needs;
}

}  // namespace

IdVector<int32_t, StepNeeds> make_steps(const Program& program, WeightStore& weights, const Bindings& bounds,
                                        int threads,
                                        const std::function<void(int32_t, const KernelBuildContext&)>& make) {
  IdVector<int32_t, StepNeeds> needs(program.steps.size());
  for (const int32_t at : program.steps.ids()) {
    const Step& step = program.steps[at];
    if (!has_kernel(step)) continue;
    needs[at] = needs_of(program, step);
    make(at, KernelBuildContext{program, step, weights, bounds, threads, needs[at].weights, needs[at].parts});
  }
  return needs;
}

void sort_weights(const Program& p, const IdVector<int32_t, StepNeeds>& needs, const WeightStore& weights,
                  ExecutableLayout& layout) {
  for (const int32_t at : needs.ids()) {
    const StepParts& of = needs[at].parts;
    const auto is_part = [&](const PartUse& part) { return weights.is_part(part.handle); };
    if (std::any_of(of.parts.begin(), of.parts.end(), is_part)) layout.sites.push_back({at, of.decision, of.parts});
  }
  layout.lazy.resize(p.guards.size());
  std::map<WeightHandle, std::set<GuardId>> guards;  // kNone: a step outside of fallbacks
  for (const int32_t at : needs.ids())
    for (const WeightHandle handle : needs[at].weights)
      if (!weights.is_part(handle)) guards[handle].insert(p.steps[at].fallback);
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
  std::vector<int64_t> turns{1};  // turns of the repeats that are open
  for (const Step& step : p.steps) {
    if (step.kind == StepKind::kernel) events += turns.back();
    if (step.kind == StepKind::repeat_end) turns.pop_back();
    if (step.kind == StepKind::repeat_begin)
      turns.push_back(std::clamp<int64_t>(turns.back() * p.dims[step.most].evaluate(bounds), 0, kMostEvents));
  }
  return static_cast<int32_t>(std::min<int64_t>(events, kMostEvents));
}

}  // namespace stormcell
