// The least --weight-budget of a graph.
#pragma once
#include <cstdint>
#include <memory>

#include "core/cpu/cpu_device.h"
#include "core/runtime/lower.h"
#include "core/runtime/weight_store.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

inline int64_t least_budget(const RandomCase& c) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights, kBudgetForAll);
  device.layout_of(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings});
  return store.least_budget();
}

}  // namespace stormcell::testing
