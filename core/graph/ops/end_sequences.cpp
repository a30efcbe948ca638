// end_sequences(next [S] i32, done [S] i32; end, pad) -> token [S], done [S]: a finished sequence writes `pad`; one
// that writes `end` is finished from then on. end < 0: none ends.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_end_sequences(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_one_integer(g, n, 0);
  expect_one_integer(g, n, 1);
  expect_space(g, n, 1, input_type(g, n, 0).space);
  return {{input_type(g, n, 0)}, {input_type(g, n, 0)}};
}
constexpr AttributeRule kEndSequencesAttributes[] = {{"end", AttributeKind::integer}, {"pad", AttributeKind::integer}};
}  // namespace
extern const Operator kEndSequences;
const Operator kEndSequences{.name = "end_sequences",
                             .infer = infer_end_sequences,
                             .flow = flow_cell,
                             .cost = cost_elementwise,
                             .role = Role::pointwise,
                             .attributes = kEndSequencesAttributes};
}  // namespace stormcell
