// The numbers that tests of failing steps compare.
#pragma once
#include <cstdint>
#include <vector>

#include "core/runtime/executor.h"

namespace stormcell::testing {

/// The numbers of all outputs.
inline std::vector<std::vector<float>> output_reals(const ExecutionResult& result) {
  std::vector<std::vector<float>> all;
  for (const OutputValue& out : result.outputs) all.push_back(out.reals);
  return all;
}

}  // namespace stormcell::testing
