// Parts that tests of failing steps share.
#pragma once
#include <cstdint>
#include <vector>

#include "core/runtime/executor.h"
#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

/// The numbers of all outputs.
inline std::vector<std::vector<float>> output_reals(const ExecutionResult& result) {
  std::vector<std::vector<float>> all;
  for (const OutputValue& out : result.outputs) all.push_back(out.reals);
  return all;
}

/// The predicate of a guard: no cell has branch 1.
inline ValueId nobody_in_branch_1(MixtureBuilder& b, ValueId decision) {
  return b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "nobody");
}

}  // namespace stormcell::testing
