// attention(q [Q, heads*d], k [K, kv_heads*d], v [K, kv_heads*e]; extras) -> [Q, heads*e]: softmax(scale q k^T + bias +
// mask) v among the cells of one parent. Q and K are spaces below the same one, each dense or ragged. A ragged cell
// keeps the place of its base space, so that distances count cells that are left out. A query whose parent has no key
// gives 0. extras: bias [buckets, heads] (T5 relative positions), mask [K] i32 (0: never attended), step [parents] i32
// (K is a cache, dense: the queries of a parent begin at this place, whatever their cells' own places, and its keys up
// to the last query's place are valid; the others were never written), sinks [heads] (a score of each head beside those
// of the keys; its weight goes nowhere, so that those of the keys sum to less than 1, as in gpt-oss; a query that sees
// no key gives 0). Keys and values of a cache may be kept in bf16.
// attributes: heads, kv_heads, scale, causal, window (0: none), buckets, max_distance, bidirectional.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
/// Keys and values: in f32, or a cache that is kept in bf16.
void expect_keys(const Graph& g, const Node& n, size_t index) {
  const TensorType& type = input_type(g, n, index);
  const bool rounded = g.value(n.inputs[index]).kind == ValueKind::state && format_of(type.dtype).rounds_rows;
  if (!rounded || type.space == kNone || type.content.size() != 1) expect_cells(g, n, index, 1);
}
std::vector<Result> infer_attention(const Graph& g, const Node& n) {
  expect_inputs(n, 3 + extra_count(n), 3 + extra_count(n));
  expect_cells(g, n, 0, 1);
  expect_keys(g, n, 1);
  expect_keys(g, n, 2);
  const TensorType &q = input_type(g, n, 0), &k = input_type(g, n, 1), &v = input_type(g, n, 2);
  expect_space(g, n, 2, k.space);
  if (k.dtype != v.dtype)
    operator_error(n, "keys and values in one format", type_text(g, k) + " and " + type_text(g, v));
  const CellSpace &qs = g.space(q.space), &ks = g.space(k.space);
  if (!is_grouped(g, q.space) || !is_grouped(g, k.space) || qs.parent != ks.parent)
    operator_error(n, "queries and keys below one space", type_text(g, q) + " and " + type_text(g, k));
  const int64_t heads = n.attributes.integer("heads"), kv_heads = n.attributes.integer("kv_heads");
  const int64_t q_width = q.content[0].constant(), k_width = k.content[0].constant(), v_width = v.content[0].constant();
  constexpr int64_t kMostHeads = 1 << 20;
  if (heads <= 0 || kv_heads <= 0 || heads > kMostHeads || heads % kv_heads != 0 || q_width % heads != 0 ||
      k_width % kv_heads != 0 || v_width % kv_heads != 0 || q_width / heads != k_width / kv_heads)
    operator_error(
        n, "widths that divide into " + std::to_string(heads) + " heads of " + std::to_string(kv_heads) + " key heads",
        type_text(g, q) + ", " + type_text(g, k) + ", " + type_text(g, v));
  if (const auto i = extra_input(n, "bias")) {
    expect_attribute(n, "buckets");
    expect_shared(g, n, *i, {n.attributes.integer("buckets"), heads});
  }
  if (const auto i = extra_input(n, "mask")) {
    expect_one_integer(g, n, *i);
    expect_space(g, n, *i, k.space);
  }
  if (const auto i = extra_input(n, "step")) {
    expect_one_integer(g, n, *i);
    expect_space(g, n, *i, ks.parent);
    if (ks.kind != SpaceKind::dense) operator_error(n, "dense keys with a step", type_text(g, k));
  }
  if (const auto i = extra_input(n, "sinks")) expect_shared(g, n, *i, {heads});
  return {{{DType::f32, q.space, {v_width / kv_heads * heads}}}};
}
Flow flow_attention(const Graph& g, const Node& n, size_t index) {
  const Value& v = g.value(n.inputs[index]);
  if (v.kind == ValueKind::weight || v.type.space == kNone) return {Mix::none};
  if (index == 0) return {Mix::cell};
  if (extra_input(n, "step") == index) return {Mix::within, v.type.space};
  const bool causal = flag_of(n, "causal") && input_type(g, n, 0).space == v.type.space;
  return {causal ? Mix::before : Mix::within, g.space(v.type.space).parent};
}
Cost cost_attention(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const Graph& g = c.graph;
  const TensorType &q = g.value(n.inputs[0]).type, &k = g.value(n.inputs[1]).type;
  const double parents = c.rows(g.space(k.space).parent), keys = parents > 0 ? c.rows(k.space) / parents : 0;
  const double width = static_cast<double>(q.content[0].constant()) +
                       static_cast<double>(g.value(n.outputs[0]).type.content[0].constant());
  cost.flops = 2 * c.rows(q.space) * keys * width;
  return cost;
}
constexpr AttributeRule kAttentionAttributes[] = {{"heads", AttributeKind::integer},
                                                  {"kv_heads", AttributeKind::integer},
                                                  {"scale", AttributeKind::real, defaults_to(1.0)},
                                                  {"causal", AttributeKind::flag, defaults_to(0)},
                                                  {"window", AttributeKind::integer, defaults_to(0)},
                                                  {"buckets", AttributeKind::integer, Presence::optional},
                                                  {"max_distance", AttributeKind::integer, defaults_to(128)},
                                                  {"bidirectional", AttributeKind::flag, defaults_to(1)}};
}  // namespace
extern const Operator kAttention;
const Operator kAttention{.name = "attention",
                          .infer = infer_attention,
                          .flow = flow_attention,
                          .cost = cost_attention,
                          .role = Role::attend,
                          .extras = "bias mask step sinks",
                          .attributes = kAttentionAttributes};
}  // namespace stormcell
