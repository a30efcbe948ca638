#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

ValueId MixtureBuilder::tokens(int64_t sequences, int64_t length, int64_t width) {
  const SpaceId root = root_space("sequences", bound_symbol("N", sequences));
  const SpaceId space = dense_space("tokens", root, bound_symbol("T", length));
  return value("embedding", {integers("ids", space, 19), drawn("table", {19, width}, 1)}, {}, "embedded");
}

ValueId MixtureBuilder::labelled(SpaceId space, int64_t branches, const std::string& name) {
  Protocol rule;
  rule.kind = ProtocolKind::label;
  return route(integers(name + ".labels", space, branches), rule, name, branches);
}

ValueId MixtureBuilder::scored(ValueId x, const Protocol& protocol, int64_t branches, const std::string& name) {
  return route(linear(x, branches, name + ".scores", "none", false, 3), protocol, name);
}

ValueId MixtureBuilder::expert(ValueId x, const Mixture& shape, const std::string& name, const std::string& common) {
  const int64_t width = width_of(x);
  const auto product = [&](ValueId v, int64_t to, const std::string& part) { return linear(v, to, part, "none", shape.biases); };
  const auto active = [&](ValueId v) { return value("activation", {v}, {{"kind", shape.activation}}, name + ".active"); };
  switch (shape.expert) {
    case Expert::plain:
      return product(active(product(x, shape.width, name + ".up")), width, name + ".down");
    case Expert::gated: {
      const ValueId gate = active(product(x, shape.width, name + ".gate")), up = product(x, shape.width, name + ".up");
      return product(value("multiply", {gate, up}, {}, name + ".gated"), width, name + ".down");
    }
    case Expert::single:
      return value("scale", {product(x, width, name + ".single")}, {{"factor", 0.7}}, name + ".scaled");
    case Expert::normed:
      return product(linear(norm(x, common + ".shared"), shape.width, name + ".up", shape.activation, shape.biases), width, name + ".down");
  }
  return x;
}

ValueId MixtureBuilder::mixture(ValueId x, ValueId decision, const Mixture& shape, const std::string& name) {
  std::vector<int32_t> branches;
  for (int32_t b = 0; b < graph().value(decision).branches; ++b) branches.push_back(b);
  const ValueId flow = norm(x, name + ".norm");
  const std::vector<ValueId> parts = scatter(flow, decision, branches);
  std::vector<ValueId> skips, results;
  if (shape.skip) skips = scatter(x, decision, branches);
  for (size_t b = 0; b < parts.size(); ++b) {
    const std::string expert_name = name + ".expert." + std::to_string(b);
    ValueId y = expert(parts[b], shape, expert_name, name);
    if (shape.skip) y = add(y, skips[b], expert_name + ".skip");
    results.push_back(y);
  }
  const ValueId joined = gather(std::move(results), space_of(flow), shape.mode, shape.otherwise ? flow : kNone, name + ".joined");
  return shape.residual ? add(x, joined, name + ".residual") : joined;
}

RandomCase random_mixtures(uint64_t seed) {
  MixtureBuilder b(seed);
  if (b.random.chance(0.3)) b.weight_dtype = DType::bf16;
  ValueId x = b.tokens(b.random.between(1, 4), b.random.between(1, 9), b.random.chance(0.5) ? 8 : 20);
  const int64_t layers = b.random.between(2, 3);
  const char* activations[] = {"relu", "gelu", "gelu_tanh", "silu"};
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer." + std::to_string(i);
    Mixture shape;
    shape.branches = b.random.between(2, 9);
    shape.width = b.random.between(3, 70);
    shape.expert = static_cast<Expert>(b.random.below(4));
    shape.activation = activations[b.random.below(4)];
    shape.skip = b.random.chance(0.3);
    shape.biases = b.random.chance(0.4);
    Protocol rule;
    ValueId decision = kNone;
    switch (b.random.below(5)) {
      case 0:
        rule.kind = ProtocolKind::switch_top1;
        rule.capacity = static_cast<int32_t>(b.random.between(0, 3));
        rule.dropped = b.random.chance(0.5) ? DroppedCells::scaled_input : DroppedCells::zero;
        shape.otherwise = rule.dropped == DroppedCells::scaled_input;
        shape.mode = "weighted";
        break;
      case 1:
        rule.kind = ProtocolKind::threshold;
        rule.threshold = 0.4f;
        shape.otherwise = b.random.chance(0.5);
        break;
      case 2:
        decision = b.labelled(b.space_of(x), shape.branches, name);
        shape.mode = b.random.chance(0.5) ? "place" : "sum";
        break;
      default:
        rule.k = static_cast<int32_t>(b.random.between(1, std::min<int64_t>(4, shape.branches)));
        rule.renormalize = true;
        shape.mode = "weighted";
    }
    if (decision == kNone) decision = b.scored(x, rule, shape.branches, name);
    x = b.mixture(x, decision, shape, name);
  }
  b.output("hidden", x);
  b.output("logits", b.value("scale", {b.product(b.norm(x, "final"), 13, "head")}, {{"factor", 0.25}}, "logits"));
  return b.take("mixtures, seed " + std::to_string(seed));
}

}  // namespace stormcell::testing
