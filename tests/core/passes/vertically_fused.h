// A case after vertical fusion, its answers compared.
#pragma once
#include <QTest>

#include "core/cpu/cpu_device.h"
#include "core/passes/pass.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"

namespace stormcell::testing {

/// The fused graph; its answers are those of the case, bit for bit on both devices, in two turns: states go on.
inline PassResult vertically_fused(const RandomCase& from) {
  const LoadProfile none;
  PassResult result = find_pass("vertical-fusion")->run(pass_input(from.graph, none));
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  Plan plain(cpu, from.graph, from);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    Plan fused(*device, result.graph, from);
    for (int turn = 0; turn < 2; ++turn) {
      const std::string why = difference(plain.run(from.inputs).outputs, fused.run(from.inputs).outputs);
      if (!why.empty()) QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
    }
  }
  return result;
}

}  // namespace stormcell::testing
