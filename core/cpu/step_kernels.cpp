#include "core/cpu/step_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/align.h"
#include "core/base/error.h"

namespace stormcell::cpu {
namespace {

std::unique_ptr<Kernel> make_kernel(const Making& making) {
  const Node& node = making.node();
  for (const KernelRow& row : kernel_list())
    if (row.op == node.op->name)
      if (auto kernel = row.make(making)) return kernel;
  failed(node_text(node), "no CPU kernel");
}

}  // namespace

StepKernels make_kernels(const Program& p, WeightStore& weights, const Bindings& bounds, int threads) {
  StepKernels made;
  made.kernel.resize(p.steps.size());
  made.weights.resize(p.steps.size());
  made.parts.resize(p.steps.size());
  made.router.assign(p.steps.size(), -1);
  made.ragged.assign(p.steps.size(), -1);
  made.in.resize(p.steps.size());
  made.out.resize(p.steps.size());
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const Step& step = p.steps[i];
    if (step.kind != StepKind::kernel) continue;
    made.in[i].resize(step.inputs.size());
    made.out[i].resize(step.outputs.size());
    made.kernel[i] = make_kernel({p, step, weights, bounds, threads, made.weights[i], made.parts[i]});
    made.scratch_bytes = std::max(made.scratch_bytes, align_up(made.kernel[i]->scratch_bytes()));
    for (size_t r = 0; r < p.routers.size(); ++r)
      if (p.routers[r].node == step.node) made.router[i] = static_cast<int32_t>(r);
    for (size_t r = 0; r < p.raggeds.size(); ++r)
      if (!step.outputs.empty() && p.raggeds[r] == step.outputs[0]) made.ragged[i] = static_cast<int32_t>(r);
  }
  return made;
}

void sort_weights(const Program& p, const StepKernels& kernels, const WeightStore& weights, ExecutableLayout& layout) {
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const StepParts& of = kernels.parts[i];
    const auto is_part = [&](const PartUse& part) { return weights.is_part(part.handle); };
    if (std::any_of(of.parts.begin(), of.parts.end(), is_part)) layout.sites.push_back({static_cast<int32_t>(i), of.decision, of.parts});
  }
  layout.lazy.resize(p.guards.size());
  std::map<int32_t, std::set<int32_t>> guards;  // -1: a step outside of fallbacks
  for (size_t i = 0; i < p.steps.size(); ++i)
    for (const int32_t handle : kernels.weights[i])
      if (!weights.is_part(handle)) guards[handle].insert(p.steps[i].fallback);
  for (const auto& [handle, readers] : guards) {
    if (readers.contains(-1)) {
      layout.always.push_back(handle);
    } else {
      for (const int32_t guard : readers) layout.lazy[guard].push_back(handle);
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
