// The inputs of a case, as the executor takes them and as the oracle does.
#pragma once
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

inline InputValues input_values(const RandomCase& from) {
  InputValues inputs;
  for (const auto& [name, values] : from.inputs) {
    if (const auto* ints = std::get_if<std::vector<int32_t>>(&values)) inputs.integers[name] = *ints;
    if (const auto* reals = std::get_if<std::vector<float>>(&values)) inputs.reals[name] = *reals;
  }
  return inputs;
}

inline OracleInputs<float> oracle_inputs(const RandomCase& from) {
  OracleInputs<float> inputs;
  for (const auto& [name, values] : from.inputs) {
    if (const auto* ints = std::get_if<std::vector<int32_t>>(&values)) inputs[name].integers = *ints;
    if (const auto* reals = std::get_if<std::vector<float>>(&values)) inputs[name].reals = *reals;
  }
  return inputs;
}

}  // namespace stormcell::testing
