// The shape rule of predicates about some branches of a decision.
#pragma once
#include <string>
#include <vector>

#include "core/graph/operator.h"

namespace stormcell {

/// Input 0 is a decision, the attribute `branches` lists some of its branches, and a scalar i32 is the answer.
inline std::vector<Result> infer_branch_predicate(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_decision(g, n, 0);
  for (const int64_t b : n.attributes.list("branches"))
    if (b < 0 || b >= g.value(n.inputs[0]).branches) operator_error(n, "branches of the decision", std::to_string(b));
  return {{{DType::i32, kNone, {}}}};
}

}  // namespace stormcell
