// A router with capacity inside a branch: there its places are counted over all sequences, padding included.
#pragma once
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// Three sequences of eight tokens, the last four of each padding. `compacted`: the same weights over the real tokens
/// alone, which is another model, because padding then takes no places.
inline RandomCase nested_capacity(bool compacted = false) {
  CaseBuilder b(5);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 3)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 8));
  ValueId x = b.floats("x", tokens, {8});
  const ValueId mask = b.mask("mask", tokens, false);
  const ValueId real = compacted ? b.value("compact", {mask}, {}, "tokens.real") : kNone;
  if (compacted) x = b.pack(x, real, sequences);
  Protocol outer, capacity;
  capacity.kind = ProtocolKind::switch_top1;
  capacity.capacity = 5;
  const ValueId decision = b.route(b.linear(x, 2, "scores", "none", true, 2), outer, "outer");
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
  const ValueId nested = b.route(b.linear(parts[1], 2, "inner.scores", "none", true, 2), capacity, "inner");
  std::vector<ValueId> inner = b.scatter(parts[1], nested, {0, 1});
  for (size_t i = 0; i < 2; ++i) inner[i] = b.linear(inner[i], 8, "inner." + std::to_string(i));
  parts[0] = b.linear(parts[0], 8, "outer.0");
  parts[1] = b.gather(inner, b.space_of(parts[1]), "weighted", kNone, "inner.joined");
  ValueId y = b.gather(parts, b.space_of(x), "weighted", kNone, "joined");
  if (compacted) y = b.value("expand", {y, real}, {}, "y.expanded");
  b.output("y", y, mask);
  RandomCase made = b.take("nested capacity");
  std::vector<int32_t> flags;
  for (int i = 0; i < 24; ++i) flags.push_back(i % 8 < 4);
  made.inputs["mask"] = flags;
  return made;
}

}  // namespace stormcell::testing
