#include "tests/gpu/host_cases.h"

namespace stormcell::testing {

RandomCase many_cells(uint64_t seed, bool drops) {
  MixtureBuilder b(seed);
  ValueId x = b.tokens(3, 900, 4);
  Mixture shape;
  shape.branches = 6, shape.width = 4, shape.mode = "weighted", shape.expert = Expert::single;
  Protocol rule;
  rule.k = 2, rule.renormalize = true;
  if (drops) rule = {}, rule.kind = ProtocolKind::switch_top1, rule.capacity = 100;
  x = b.mixture(x, b.scored(x, rule, shape.branches, "moe"), shape, "moe");
  b.output("y", x);
  return b.take(drops ? "many cells, dropped" : "many cells");
}

RandomCase chains(uint64_t seed) {
  MixtureBuilder b(seed);
  const ValueId x = b.tokens(2, 9, 8);
  const ValueId outer = b.scored(x, {}, 3, "outer");
  const std::vector<ValueId> parts = b.scatter(x, outer, {0, 1, 2});
  Protocol two;
  two.k = 2;
  const ValueId inner = b.scored(parts[1], two, 3, "inner");
  std::vector<ValueId> deep = b.scatter(parts[1], inner, {0, 1, 2});
  for (size_t i = 0; i < deep.size(); ++i) {
    const ValueId weight =
        b.value("choice_weight", {inner}, {{"space", int64_t{b.space_of(deep[i])}}}, "weight." + std::to_string(i));
    deep[i] = b.value("multiply", {b.linear(deep[i], 8, "deep." + std::to_string(i)), weight}, {},
                      "weighed." + std::to_string(i));
  }
  const SpaceId space = b.space_of(x);
  b.output("y", b.gather({parts[0], deep[0], deep[1], deep[2], b.linear(parts[2], 8, "last")}, space, "sum", kNone,
                         "joined"));
  return b.take("chains");
}

RandomCase many_branches(uint64_t seed) {
  MixtureBuilder b(seed);
  const ValueId x = b.tokens(2, 21, 4);
  Protocol rule;
  rule.kind = ProtocolKind::threshold;
  rule.threshold = 0.5F;
  const ValueId chosen = b.scored(x, rule, 64, "many");
  std::vector<int32_t> listed;
  for (int32_t branch = 0; branch < 64; branch += 16) listed.push_back(branch);
  std::vector<ValueId> parts = b.scatter(x, chosen, listed);
  b.output("y", b.gather(parts, b.space_of(x), "weighted", kNone, "joined"));
  return b.take("many branches");
}

RandomCase many_labels(uint64_t seed) {
  MixtureBuilder b(seed);
  const ValueId x = b.tokens(3, 750, 4);
  const ValueId chosen = b.labelled(b.space_of(x), 3, "labelled");
  b.output("y", b.gather(b.scatter(x, chosen, {0, 1, 2}), b.space_of(x), "sum", kNone, "joined"));
  return b.take("many labels");
}

RandomCase encoder_layer(uint64_t seed, bool causal) {
  MixtureBuilder b(seed);
  const SpaceId root = b.root_space("sequences", b.bound_symbol("N", 3));
  const SpaceId space = b.dense_space("tokens", root, b.bound_symbol("T", 37));
  ValueId x = b.value("embedding", {b.integers("ids", space, 19), b.drawn("table", {19, 12}, 1)}, {}, "start");
  const ValueId mask = b.mask("mask", space, true), bias = b.drawn("bias", {8, 3}, 1);
  const ValueId flow = b.norm(x, "attention.norm");
  const ValueId q = b.product(flow, 15, "q"), k = b.product(flow, 15, "k"), v = b.product(flow, 9, "v");
  const ValueId mixed = b.value("attention", {q, k, v, bias, mask},
                                {{"heads", int64_t{3}},
                                 {"kv_heads", int64_t{3}},
                                 {"causal", int64_t{causal}},
                                 {"buckets", int64_t{8}},
                                 {"max_distance", int64_t{16}},
                                 {"bidirectional", int64_t{!causal}},
                                 {"extras", std::string("bias+mask")}},
                                "attention");
  x = b.add(x, b.product(mixed, 12, "o"), "attended");
  Mixture shape;
  shape.branches = 5, shape.width = 20, shape.mode = "weighted", shape.otherwise = true;
  Protocol rule;
  rule.kind = ProtocolKind::switch_top1;
  rule.capacity = 4;
  x = b.mixture(x, b.scored(x, rule, shape.branches, "moe"), shape, "moe");
  b.output("y", b.product(b.norm(x, "last"), 23, "head"));
  return b.take(causal ? "decoder layer" : "encoder layer");
}

RandomCase small_operators(uint64_t seed) {
  MixtureBuilder b(seed);
  const SpaceId root = b.root_space("sequences", b.bound_symbol("N", 4));
  const SpaceId space = b.dense_space("tokens", root, b.bound_symbol("T", 5));
  const ValueId x = b.floats("x", space, {7}), ids = b.integers("ids", space, 9);
  for (const char* mode : {"mean", "sum", "last"})
    b.output(mode, b.value("reduce", {x}, {{"mode", std::string(mode)}}, std::string("by.") + mode));
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
  const ValueId spread = b.value("broadcast", {whole}, {{"space", int64_t{space}}}, "spread");
  b.output("joined", b.value("concat", {x, spread, x}, {}, "joined"));
  b.output("largest", b.value("argmax", {x}, {}, "largest"));
  b.output("next", b.value("add_constant", {b.value("add", {ids, ids}, {}, "twice")}, {{"value", int64_t{3}}}, "next"));
  b.output("normed", b.value("layer_norm", {x, b.drawn("gain", {7}, 0.2, 1), b.drawn("shift", {7}, 0.2)},
                             {{"eps", 1e-5}}, "normed"));
  const ValueId flags = b.flags("flags", space), places = b.value("positions", {flags}, {}, "places");
  b.output("places", places);
  b.output("places.from", b.value("positions", {flags, b.integers("from", root, 4)}, {{"extras", std::string("from")}},
                                  "places.from"));
  b.output("turned", b.value("rotary", {b.floats("heads", space, {12}), places},
                             {{"heads", int64_t{2}}, {"theta", 100.0}}, "turned"));
  b.output("extent", b.value("extent", {}, {{"extent", std::string("T")}}, "extent"));
  b.output("all", b.value("all_set", {flags, ids}, {}, "all"));
  return b.take("small operators");
}

}  // namespace stormcell::testing
