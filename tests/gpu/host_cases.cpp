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

}  // namespace stormcell::testing
