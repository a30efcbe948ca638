#include "core/cpu/step_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/align.h"
#include "core/base/error.h"

namespace stormcell::cpu {
namespace {

/// What of a step a kernel has to know beside the usual, which `row` does not; empty: it knows all of it.
std::string not_known(const Making& making, const KernelRow& row) {
  const Node& node = making.node();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& v = making.value(i);
    if (v.kind == ValueKind::weight) {
      const bool is_matrix = v.type.content.size() > 1;
      if (!(row.knows.formats && is_matrix) && held_format(v) != v.type.dtype)
        return "holds weight %" + v.name + " in " + std::string(to_text(held_format(v)));
    } else if (stored_format(v) != v.type.dtype && !(row.knows.bf16_in && i == 0)) {
      return "reads %" + v.name + " in bf16";
    }
  }
  for (const ValueId v : node.outputs)
    if (const Value& made = making.graph().value(v); !row.knows.bf16_out && stored_format(made) != made.type.dtype)
      return "writes %" + made.name + " in bf16";
  return {};
}

/// Says what no kernel supports, or not the one that is asked for, and which ones would do.
[[noreturn]] void refuse(const Making& making, const std::string* asked) {
  const Node& node = making.node();
  std::string of_operator, would_do, unknown;
  bool is_there = false, none_knows = true;
  for (const KernelRow& row : kernel_list()) {
    if (row.op != node.op->name) continue;
    const auto add = [&](std::string& words) { words += (words.empty() ? "" : " ") + std::string(row.name); };
    add(of_operator);
    is_there = is_there || (asked && row.name == *asked);
    const std::string lacks = not_known(making, row);
    if (unknown.empty()) unknown = lacks;
    none_knows = none_knows && !lacks.empty();
    if (lacks.empty() && row.make(making)) add(would_do);
  }
  const std::string where = node_text(node);
  if (asked && !is_there) bad_input(where, "expected kernel " + listed(of_operator) + ", got \"" + *asked + "\"", "choose one of these");
  if (asked)
    bad_input(where, "kernel " + *asked + " does not support this case", would_do.empty() ? "no other does" : listed(would_do) + " does");
  if (none_knows) bad_input(where, "no kernel " + unknown, "leave that annotation out");
  const bool annotated = [&] {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!making.value(i).annotations.empty()) return true;
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return !making.graph().value(v).annotations.empty(); });
  }();
  if (annotated) bad_input(where, "no kernel supports the formats of its operands together", "leave an annotation out");
  failed(where, "no CPU kernel");
}

std::unique_ptr<Kernel> make_kernel(const Making& making) {
  const Node& node = making.node();
  const std::string* asked = node.annotations.find(kKernel);
  for (const KernelRow& row : kernel_list())
    if (row.op == node.op->name && (!asked || row.name == *asked) && not_known(making, row).empty())
      if (auto kernel = row.make(making)) return kernel;
  refuse(making, asked);
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
