// A rewritten graph against its case, on the oracle.
#pragma once
#include <QTest>

#include "core/oracle/oracle.h"
#include "tests/testing/case_inputs.h"

namespace stormcell::testing {

/// The oracle gives the same bits for both.
inline void same_by_the_oracle(const RandomCase& from, const Graph& graph) {
  const auto plain = Oracle<float>(from.graph, *from.weights).run(oracle_inputs(from), from.bindings);
  const auto fused = Oracle<float>(graph, *from.weights).run(oracle_inputs(from), from.bindings);
  for (const auto& [name, tensor] : plain.outputs)
    if (fused.output(name).reals != tensor.reals)
      QTest::qFail((from.name + ": the oracle's " + name).c_str(), __FILE__, __LINE__);
}

}  // namespace stormcell::testing
