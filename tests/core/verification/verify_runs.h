// Executions to verify: a graph on a device, judged beside the oracle on the case's own weights.
#pragma once
#include <QString>
#include <algorithm>
#include <memory>

#include "core/runtime/lower.h"
#include "core/verification/judge.h"
#include "tests/core/verification/verify_cases.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {

/// A random case, or of a negative number a toy.
inline RandomCase toy_or_random(int seed) {
  if (seed < 0) return toys()[static_cast<size_t>(-1 - seed)].make(1);
  return make_random_case(static_cast<uint64_t>(seed));
}

inline Observed by_oracle(const RandomCase& c, const Graph& graph, const WeightSource& weights, bool round_inputs) {
  OracleOptions options;
  options.keep_scores = true;
  options.round_inputs = round_inputs;
  Observed o = observed(graph, c.bindings, Oracle<float>(graph, weights).run(oracle_inputs(c), c.bindings, options),
                        cell_reach(graph));
  const auto root = std::find_if(graph.spaces.begin(), graph.spaces.end(),
                                 [](const CellSpace& s) { return s.kind == SpaceKind::root; });
  if (root != graph.spaces.end()) o.items = root->count.evaluate(c.bindings);
  return o;
}

/// A graph on a device.
struct Plan {
  Plan(Device& device, const RandomCase& c, std::shared_ptr<const Graph> graph,
       std::shared_ptr<const WeightSource> weights)
      : from(c),
        store(device, std::move(weights)),
        program(std::make_shared<Program>(lower(std::move(graph)))),
        named(name_routers(*program)),
        executor(device, store, program, c.bindings) {}
  const RandomCase& from;
  WeightStore store;
  std::shared_ptr<const Program> program;
  NamedRouters named;
  Executor executor;
  int misses = 0;  ///< of guards, in all runs

  Observed run(const Observed* replay) {
    ExecuteOptions options;
    options.outputs = options.record = true;
    ReplayedDecisions replayed;
    if (replay) replayed = choices_to_replay(*program, replay->decisions), options.replayed = &replayed;
    ExecutionResult result;
    executor.run(input_values(from), from.bindings, options, result);
    for (const int32_t n : result.guard_misses) misses += n;
    return observed(*program, named, from.bindings, result);
  }
};

/// The case as the plan runs it, beside the oracle with the case's own weights.
inline Verification judged(const RandomCase& c, Device& device, std::shared_ptr<const WeightSource> ours,
                           double tolerance = 1e-4) {
  const Arithmetic arithmetic =
      c.weight_dtype == DType::bf16 && device.info().rounds_bf16_inputs ? Arithmetic::rounds_to_bf16 : Arithmetic::f32;
  const Observed reference = by_oracle(c, c.graph, *c.weights, device.info().rounds_bf16_inputs);
  Plan plan(device, c, std::make_shared<Graph>(c.graph), std::move(ours));
  const Observed free = plan.run(nullptr);
  Judge judge(c.weight_dtype == DType::bf16 ? 2e-2 : tolerance, arithmetic);
  judge.add(0, reference, plan.run(&reference), &free);
  return judge.verdict();
}
/// With the allowances of bf16, whatever the weights are stored in.
inline Verification judged_as_bf16(const RandomCase& c, std::shared_ptr<const WeightSource> ours) {
  cpu::CpuDevice device(2);
  const Observed reference = by_oracle(c, c.graph, *c.weights, false);
  Plan plan(device, c, std::make_shared<Graph>(c.graph), std::move(ours));
  const Observed free = plan.run(nullptr);
  Judge judge(2e-2, Arithmetic::rounds_to_bf16);
  judge.add(0, reference, plan.run(&reference), &free);
  return judge.verdict();
}
inline Verification judged(const RandomCase& c, std::shared_ptr<const WeightSource> ours) {
  cpu::CpuDevice device(2);
  return judged(c, device, std::move(ours));
}

inline QString said(const Verification& v) {
  QString text = QString("%1 of %2; ").arg(v.max_rel_diff).arg(v.tolerance);
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}

}  // namespace stormcell::testing
