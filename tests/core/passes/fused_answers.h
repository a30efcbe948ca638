// Plans of the pass horizontal-fusion beside the graph that it got.
#pragma once
#include <cstdint>
#include <string>

#include "core/cpu/cpu_device.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

/// Fails the test if a plan of `graph` answers otherwise than the case, on the CPU or the emulated device.
inline void same_answers(const RandomCase& from, const Graph& graph) {
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  Plan plain(cpu, from.graph, from);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    Plan fused(*device, graph, from);
    for (uint64_t turn = 0; turn < 3; ++turn) {
      const CaseInputs inputs = turn == 0 ? from.inputs : drawn_anew(from, turn);
      const std::string why = difference(plain.run(inputs).outputs, fused.run(inputs).outputs);
      if (!why.empty()) QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
    }
  }
}

/// The case after the pass. Its answers are compared.
inline PassResult fuse(const RandomCase& from) {
  const LoadProfile none;
  PassResult result = find_pass("horizontal-fusion")->run(pass_input(from.graph, none));
  same_answers(from, result.graph);
  return result;
}

}  // namespace stormcell::testing
