// sample(x [S, n], item [S] i32, turn [S] i32; seed, temperature, top_k, top_p) -> [S] i32: an entry of each row, drawn
// by the numbers of its sequence and turn (core/cell/sampling.h).
#include "core/graph/operator.h"
#include "core/graph/sampling.h"

namespace stormcell {
namespace {
std::vector<Result> infer_sample(const Graph& g, const Node& n) {
  expect_inputs(n, 3, 3);
  expect_cells(g, n, 0, 1);
  for (size_t i = 1; i < 3; ++i) {
    expect_one_integer(g, n, i);
    expect_space(g, n, i, input_type(g, n, 0).space);
  }
  const SamplingRule rule = sampling_of(n);
  if (!(rule.temperature > 0)) operator_error(n, "a temperature above 0", real_text(rule.temperature));
  if (rule.top_k < 0) operator_error(n, "top_k of at least 0", std::to_string(rule.top_k));
  if (!(rule.top_p > 0 && rule.top_p <= 1)) operator_error(n, "top_p above 0 and at most 1", real_text(rule.top_p));
  return {{{DType::i32, input_type(g, n, 0).space, {}}}};
}
constexpr AttributeRule kSampleAttributes[] = {{"seed", AttributeKind::integer, defaults_to(0)},
                                               {"temperature", AttributeKind::real, defaults_to(1.0)},
                                               {"top_k", AttributeKind::integer, defaults_to(0)},
                                               {"top_p", AttributeKind::real, defaults_to(1.0)}};
}  // namespace
extern const Operator kSample;
const Operator kSample{.name = "sample",
                       .infer = infer_sample,
                       .flow = flow_cell,
                       .cost = cost_of_traffic,
                       .role = Role::pointwise,
                       .attributes = kSampleAttributes};

SamplingRule sampling_of(const Node& node) {
  // An attribute has a sign, a seed has none: the bits are the same.
  return {static_cast<uint64_t>(integer_of(node, "seed")), real_of(node, "temperature"), integer_of(node, "top_k"),
          real_of(node, "top_p")};
}
Attributes sampling_attributes(const SamplingRule& rule) {
  return {{"seed", static_cast<int64_t>(rule.seed)},
          {"temperature", rule.temperature},
          {"top_k", rule.top_k},
          {"top_p", rule.top_p}};
}
}  // namespace stormcell
