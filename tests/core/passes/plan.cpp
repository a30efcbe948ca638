#include "tests/core/passes/plan.h"

#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_device.h"
#include "core/graph/label_inputs.h"
#include "core/graph/operator.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"

namespace stormcell::testing {
Plan::Plan(Device& device, const Graph& graph, const RandomCase& from, int64_t budget)
    : bindings_(from.bindings),
      store_(device, from.weights, budget),
      executor_(device, store_, std::make_shared<Program>(lower(std::make_shared<Graph>(graph))), bindings_) {}

const ExecutionResult& Plan::run(const CaseInputs& inputs, const ExecuteOptions& options) {
  executor_.run(input_values(inputs), bindings_, options, result_);
  return result_;
}
const ExecutionResult& Plan::run(const CaseInputs& inputs) {
  ExecuteOptions options;
  options.outputs = options.record = options.events = true;
  return run(inputs, options);
}
const ExecutionResult& Plan::run_silently(const CaseInputs& inputs) { return run(inputs, {}); }

int64_t Plan::bytes_of(const std::set<WeightHandle>& handles) const {
  int64_t bytes = 0;
  for (const WeightHandle handle : handles) bytes += store_.bytes(handle);
  return bytes;
}

std::string difference(const std::vector<OutputValue>& a, const std::vector<OutputValue>& b) {
  if (a.size() != b.size()) return "another number of outputs";
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].shape != b[i].shape) return a[i].name + " has another name or shape";
    if (a[i].integers != b[i].integers) return a[i].name + " has other integers";
    if (a[i].reals.size() != b[i].reals.size()) return a[i].name + " has another size";
    for (size_t j = 0; j < a[i].reals.size(); ++j)
      if (std::memcmp(&a[i].reals[j], &b[i].reals[j], 4) != 0)
        return a[i].name + "[" + std::to_string(j) + "] is " + std::to_string(a[i].reals[j]) + " and " +
               std::to_string(b[i].reals[j]);
  }
  return {};
}

void add_to_profile(const Executor& executor, const ExecutionResult& result, LoadProfile& profile) {
  const Program& program = executor.program();
  for (const ProgramRouter& router : program.routers) {
    RouterLoad& load = profile.routers[router.name];
    load.load.resize(static_cast<size_t>(program.operands[router.decision].branches));
    ++load.batches;
  }
  for (const ExecutedDecision& d : result.decisions) {
    RouterLoad& load = profile.routers[program.routers[d.router].name];
    load.cells += d.shape.cells;
    for (const int32_t choice : d.choice)
      if (is_kept(choice)) ++load.load[static_cast<size_t>(choice)];
  }
}

LoadProfile profile_of(const RandomCase& from, const std::vector<CaseInputs>& batches) {
  cpu::CpuDevice device(1);
  Plan plan(device, from.graph, from);
  LoadProfile profile;
  for (const CaseInputs& inputs : batches) add_to_profile(plan.executor(), plan.run(inputs), profile);
  return profile;
}

CaseInputs drawn_anew(const RandomCase& from, uint64_t seed) {
  Random random(seed);
  CaseInputs inputs = from.inputs;
  const std::vector<LabelInput> labels = label_inputs(from.graph);
  for (auto& [name, input] : inputs) {
    if (name.starts_with("mask")) continue;
    if (auto* integers = std::get_if<std::vector<int32_t>>(&input)) {
      int64_t below = 9;
      for (const LabelInput& label : labels)
        if (from.graph.value(label.input).name == name) below = std::min<int64_t>(below, label.branches);
      for (int32_t& i : *integers) i = static_cast<int32_t>(random.below(below));
    } else {
      for (float& f : std::get<std::vector<float>>(input)) f = static_cast<float>(random.normal());
    }
  }
  return inputs;
}

PassInput pass_input(const Graph& graph, const LoadProfile& profile) {
  static const Bf16Rows rows = cpu::bf16_rows();
  return {graph, profile, nullptr, {}, {}, cpu::CpuDevice(1).info().rounds_bf16_inputs ? &rows : nullptr};
}

size_t count_nodes(const Graph& graph, std::string_view op) {
  size_t n = 0;
  graph.for_each_node([&](NodeId id, int) { n += graph.node(id).op->name == op; });
  return n;
}

}  // namespace stormcell::testing
