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
  const auto product = [&](ValueId v, int64_t to, const std::string& part) {
    return linear(v, to, part, "none", shape.biases);
  };
  const auto active = [&](ValueId v) {
    return value("activation", {v}, {{"kind", shape.activation}}, name + ".active");
  };
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
      return product(linear(norm(x, common + ".shared"), shape.width, name + ".up", shape.activation, shape.biases),
                     width, name + ".down");
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
  const ValueId joined =
      gather(std::move(results), space_of(flow), shape.mode, shape.otherwise ? flow : kNone, name + ".joined");
  return shape.residual ? add(x, joined, name + ".residual") : joined;
}

ValueId MixtureBuilder::maps(int64_t sequences, int64_t height, int64_t width, int64_t channels) {
  return floats("pixels", root_space("pictures", bound_symbol("N", sequences)), {height, width, channels},
                InputRole::pixels);
}

ValueId MixtureBuilder::subnet(ValueId map, const Subnet& shape, const std::string& name) {
  const auto relu = [&](ValueId v, const std::string& part) {
    return value("activation", {v}, {{"kind", std::string("relu")}}, part);
  };
  ValueId x = map;
  if (shape.head && shape.groups > 1) {
    // Without a bias, in groups of channels.
    x = value("conv2d", {map, drawn(name + ".head.weight", {shape.channels, 3, 3, width_of(map) / shape.groups}, 0.3)},
              {{"padding", int64_t{1}}, {"groups", shape.groups}}, name + ".head");
  } else if (shape.head) {
    x = conv(map, shape.channels, 3, 1, name + ".head");
  }
  const ValueId first = x;
  const int64_t channels = width_of(x);
  for (int64_t i = 0; i < shape.blocks; ++i) {
    const std::string block = name + ".body." + std::to_string(i);
    x = add(x,
            conv(relu(conv(x, channels, 3, 1, block + ".first"), block + ".relu"), channels, 3, 1, block + ".second"),
            block);
  }
  x = add(first, conv(x, channels, 3, 1, name + ".end"), name + ".body");
  if (shape.shuffled) {
    x = value("pixel_shuffle", {conv(x, 4 * channels, 3, 1, name + ".up")}, {{"factor", int64_t{2}}}, name + ".large");
    x = conv(x, width_of(map), 3, 2, name + ".tail", "silu");
  } else {
    x = conv(x, width_of(map), 1, 1, name + ".tail");
  }
  return x;
}

ValueId MixtureBuilder::subnets(ValueId x, ValueId decision, const Subnet& shape, const std::string& mode,
                                const std::string& name) {
  std::vector<int32_t> branches;
  for (int32_t b = 0; b < graph().value(decision).branches; ++b) branches.push_back(b);
  std::vector<ValueId> parts = scatter(x, decision, branches);
  for (size_t b = 0; b < parts.size(); ++b) parts[b] = subnet(parts[b], shape, name + ".subnet." + std::to_string(b));
  return gather(std::move(parts), space_of(x), mode, kNone, name + ".joined");
}

ValueId MixtureBuilder::normed_expert(ValueId x, int64_t width, const std::string& activation,
                                      const std::string& name) {
  const int64_t d = width_of(x);
  const ValueId up = value("activation", {linear(x, width, name + ".up")}, {{"kind", activation}}, name + ".act");
  return value("layer_norm",
               {add(linear(up, d, name + ".down"), x, name + ".sum"), drawn(name + ".gain", {d}, 0.2, 1),
                drawn(name + ".shift", {d}, 0.2)},
               {{"eps", 1e-5}}, name + ".norm");
}

RandomCase random_subnets(uint64_t seed) {
  MixtureBuilder b(seed);
  if (b.random.chance(0.2)) b.weight_dtype = DType::bf16;
  ValueId x =
      b.maps(b.random.between(1, 6), b.random.between(4, 7), b.random.chance(0.3) ? 18 : b.random.between(4, 7), 4);
  const int64_t routers = b.random.between(1, 2);
  for (int64_t i = 0; i < routers; ++i) {
    const std::string name = "router." + std::to_string(i);
    Subnet shape;
    shape.channels = 2 * b.random.between(1, 4);
    shape.blocks = b.random.between(0, 3);
    shape.head = b.random.chance(0.7);
    shape.groups = b.random.chance(0.3) ? 2 : 1;
    shape.shuffled = b.random.chance(0.5);
    Protocol rule;
    std::string mode = "weighted";
    const int64_t branches = b.random.between(2, 5);
    ValueId decision = kNone;
    const ValueId seen = b.value("pool", {x}, {{"kind", std::string("global_average")}}, name + ".seen");
    if (b.random.chance(0.5)) {
      decision = b.labelled(b.space_of(x), branches, name);
      mode = b.random.chance(0.5) ? "place" : "sum";
    } else {
      rule.k = static_cast<int32_t>(b.random.between(1, 2));
      decision = b.scored(seen, rule, branches, name);
    }
    const ValueId y = b.subnets(x, decision, shape, mode, name);
    x = b.random.chance(0.5) ? b.add(x, y, name + ".sum") : y;
  }
  b.output("maps", x);
  b.output("whole", b.value("pool", {x}, {{"kind", std::string("global_average")}}, "whole"));
  return b.take("subnets, seed " + std::to_string(seed));
}

RandomCase random_sequence_experts(uint64_t seed) {
  MixtureBuilder b(seed);
  if (b.random.chance(0.3)) b.weight_dtype = DType::bf16;
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", b.random.between(1, 5)));
  const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", b.random.between(1, 7)));
  ValueId x = b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
  ValueId real = kNone;
  SpaceId base = tokens;
  if (b.random.chance(0.5)) {
    real = b.value("compact", {b.flags("mask", tokens)}, {}, "real");
    x = b.pack(x, real, sequences);
    base = b.space_of(x);
  }
  const int64_t layers = b.random.between(1, 2);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "layer." + std::to_string(i);
    const auto branches = static_cast<int32_t>(b.random.between(2, 5));
    Protocol rule;
    std::string mode = b.random.chance(0.5) ? "sum" : "weighted";
    ValueId decision = kNone;
    if (b.random.chance(0.5)) {
      decision = b.labelled(sequences, branches, name);
      if (b.random.chance(0.4)) mode = "place";
    } else {
      rule.k = static_cast<int32_t>(b.random.between(1, 2));
      decision =
          b.scored(b.value("reduce", {x}, {{"mode", std::string("mean")}}, name + ".whole"), rule, branches, name);
    }
    std::vector<ValueId> told{decision};
    if (real != kNone) told.push_back(real);
    const ValueId members = b.value("members", std::move(told), {{"base", int64_t{base}}}, name + ".members");
    std::vector<int32_t> all;
    for (int32_t k = 0; k < branches; ++k) all.push_back(k);
    std::vector<ValueId> parts = b.pack_branches(x, members, decision, all);
    const int64_t width = b.random.between(3, 40);
    const char* activation = b.random.chance(0.5) ? "gelu" : "relu";
    for (size_t k = 0; k < parts.size(); ++k)
      parts[k] = b.normed_expert(parts[k], width, activation, name + ".expert." + std::to_string(k));
    x = b.gather(std::move(parts), base, mode, b.random.chance(0.3) ? x : kNone, name + ".joined");
  }
  b.output("hidden", real == kNone ? x : b.value("expand", {x, real}, {}, "expanded"));
  return b.take("sequence experts, seed " + std::to_string(seed));
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
