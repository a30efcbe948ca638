// The inputs of a case, as the executor takes them and as the oracle does; a case executed once.
#pragma once
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

inline InputValues input_values(const std::map<std::string, CaseInput>& from) {
  InputValues inputs;
  for (const auto& [name, values] : from) {
    if (const auto* ints = std::get_if<std::vector<int32_t>>(&values)) inputs.integers[name] = *ints;
    if (const auto* reals = std::get_if<std::vector<float>>(&values)) inputs.reals[name] = *reals;
  }
  return inputs;
}
inline InputValues input_values(const RandomCase& from) { return input_values(from.inputs); }

template <class T>
OracleInputs<T> oracle_inputs(const std::map<std::string, CaseInput>& from) {
  OracleInputs<T> inputs;
  for (const auto& [name, values] : from) {
    if (const auto* ints = std::get_if<std::vector<int32_t>>(&values)) inputs[name].integers = *ints;
    if (const auto* reals = std::get_if<std::vector<float>>(&values))
      inputs[name].reals.assign(reals->begin(), reals->end());
  }
  return inputs;
}
inline OracleInputs<float> oracle_inputs(const RandomCase& from) { return oracle_inputs<float>(from.inputs); }

inline ExecuteOptions outputs_alone() {
  ExecuteOptions options;
  options.outputs = true;
  return options;
}

/// The case on its own inputs, with a weight store of its own. `program`: another than its graph's; null: that one.
inline ExecutionResult execute_once(Device& device, const RandomCase& c,
                                    const ExecuteOptions& options = outputs_alone(),
                                    std::shared_ptr<const Program> program = nullptr) {
  if (!program) program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  WeightStore store(device, c.weights);
  Executor executor(device, store, std::move(program), c.bindings);
  ExecutionResult result;
  executor.run(input_values(c), c.bindings, options, result);
  return result;
}

/// The oracle's choices, to be replayed by a program of the graph.
inline ReplayedDecisions decisions_by_router(const OracleResult<float>& reference, const Graph& graph) {
  const Program program = lower(std::make_shared<Graph>(graph));
  ReplayedDecisions replayed(program.routers.size());
  for (const RouterId r : replayed.ids())
    for (const OracleDecision& d : reference.decisions)
      if (d.router == program.routers[r].name) replayed[r].push_back({d.choice, d.ancestor});
  return replayed;
}

}  // namespace stormcell::testing
