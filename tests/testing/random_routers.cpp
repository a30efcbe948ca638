#include "tests/testing/random_routers.h"

namespace stormcell::testing {

RandomRouters::RandomRouters(uint64_t seed, const RandomOptions& options) : CaseBuilder(seed), options_(options) {
  if (options_.bf16 && random.chance(0.2)) weight_dtype = DType::bf16;
}

ValueId RandomRouters::dense_block(ValueId x, const std::string& name) {
  const int64_t d = width_of(x);
  // As vertical fusion writes it: the norm folded into the first product, the residual into the last.
  if (random.chance(0.3)) {
    const ValueId up =
        value("linear", {x, drawn(name + ".up.weight", {2 * d, d}, 0.3), drawn(name + ".gain", {d}, 0.1, 1)},
              {{"extras", std::string("gain")}, {"eps", 1e-6}, {"activation", std::string("silu")}}, name + ".up");
    return value("linear", {up, drawn(name + ".down.weight", {d, 2 * d}, 0.2), drawn(name + ".bias", {d}, 0.1), x},
                 {{"extras", std::string("bias+residual")}}, name + ".down");
  }
  const ValueId up = linear(norm(x, name + ".norm"), 2 * d, name + ".up", random.chance(0.5) ? "relu" : "gelu_tanh");
  return residual(x, linear(up, d, name + ".down"), name);
}

RandomRouters::Rule RandomRouters::draw_rule(SpaceId space, int depth) {
  Rule rule;
  Protocol& p = rule.protocol;
  rule.branches = random.between(2, 6);
  const bool routed = graph().origin(space) != kNone;
  // Labels are inputs, which live over the model's own spaces.
  switch (random.below(routed || depth > 0 ? 7 : 8)) {
    case 0:
      p.k = static_cast<int32_t>(random.between(1, std::min<int64_t>(3, rule.branches)));
      p.softmax = static_cast<SoftmaxPlace>(random.below(3));
      p.renormalize = p.softmax == SoftmaxPlace::before && random.chance(0.5);
      if (random.chance(0.25)) rule.mode = random.chance(0.5) ? "sum" : "place";
      break;
    case 1:
      p.kind = ProtocolKind::batch_prioritized;
      p.capacity_factor = 0.5 + random.uniform();
      break;
    case 2:
      p.kind = ProtocolKind::sigmoid_groups;
      p.groups = 2;
      rule.branches = 2 * random.between(1, 3);
      p.groups_kept = static_cast<int32_t>(random.between(1, 2));
      p.k = static_cast<int32_t>(random.between(1, std::min<int64_t>(2, rule.branches / 2 * p.groups_kept)));
      p.renormalize = random.chance(0.5);
      p.scale = 1.5f;
      break;
    case 3:
      p.kind = ProtocolKind::threshold;
      p.threshold = 0.5f;
      p.residual = random.chance(0.7) ? static_cast<int32_t>(random.below(rule.branches)) : -1;
      if (random.chance(0.5)) rule.mode = "sum";
      break;
    case 4:
      p.kind = random.chance(0.5) ? ProtocolKind::exit_threshold : ProtocolKind::residual_threshold;
      p.threshold = p.kind == ProtocolKind::exit_threshold ? 0.6f : 0.2f;
      p.residual = static_cast<int32_t>(random.below(2));
      rule.branches = 2;
      rule.mode = random.chance(0.5) ? "place" : "sum";
      break;
    case 5:
    case 6:
      p.kind = ProtocolKind::switch_top1;
      p.capacity = static_cast<int32_t>(random.between(0, 2));
      p.dropped = random.chance(0.5) ? DroppedCells::scaled_input : DroppedCells::zero;
      break;
    default:
      p.kind = random.chance(0.5) ? ProtocolKind::hash : ProtocolKind::label;
      if (const uint64_t seed = random.next() >> 1; p.kind == ProtocolKind::hash) p.seed = seed;
      rule.mode = random.chance(0.5) ? "sum" : "place";
      rule.scores = false;
  }
  if (random.chance(0.15)) p.supported_capacities = {1, 2, 4, 8}, p.capacity_padding = true;
  return rule;
}

ValueId RandomRouters::decide(ValueId x, const Rule& rule, const std::string& name) {
  if (!rule.scores) {
    const SpaceId space = space_of(x);
    if (!labels_.contains(space)) labels_[space] = integers("label." + graph().space(space).name, space, 9);
    return route(labels_[space], rule.protocol, name, rule.branches);
  }
  const ValueId scores = linear(x, rule.branches, name + ".router", "none", random.chance(0.5), 2);
  if (rule.protocol.kind != ProtocolKind::sigmoid_groups || random.chance(0.3))
    return route(scores, rule.protocol, name);
  // sigmoid_groups with its correction bias
  const ValueId plain = route(scores, rule.protocol, name);
  const NodeId node = graph().value(plain).producer;
  graph().node(node).inputs.push_back(drawn(name + ".correction", {rule.branches}, 0.3));
  graph().node(node).attributes.set("extras", std::string("bias"));
  return plain;
}

ValueId RandomRouters::expert(ValueId x, ValueId skip, int depth, const std::string& name) {
  const int64_t d = width_of(x);
  const double kind = random.uniform();
  ValueId y = x;
  if (kind < 0.08 && skip == kNone) return x;  // a branch without any work
  if (kind < 0.5) {
    y = linear(linear(x, d + 4, name + ".up", random.chance(0.5) ? "gelu" : "relu"), d, name + ".down", "none",
               random.chance(0.5));
  } else if (kind < 0.7) {
    const ValueId gate =
        value("activation", {linear(x, d, name + ".gate")}, {{"kind", std::string("silu")}}, name + ".gate.active");
    y = linear(value("multiply", {gate, linear(x, d, name + ".up", "none", false)}, {}, name + ".gated"), d,
               name + ".down");
  } else if (kind < 0.85 || depth > 1) {
    y = linear(x, d, name + ".single");
  } else {
    y = mixture(x, depth + 1, name + ".inner");
  }
  return skip == kNone ? y : add(y, skip, name + ".skip");
}

/// Scatters, the chain of each branch, the gather.
ValueId RandomRouters::join(ValueId flow, ValueId skip, ValueId decision, const Rule& rule,
                            const std::vector<int32_t>& branches, int depth, const std::string& name) {
  const std::vector<ValueId> parts = scatter(flow, decision, branches);
  std::vector<ValueId> skips;
  if (skip != kNone) skips = scatter(skip, decision, branches);
  std::vector<ValueId> results;
  for (size_t i = 0; i < branches.size(); ++i)
    results.push_back(
        expert(parts[i], skips.empty() ? kNone : skips[i], depth, name + ".expert." + std::to_string(branches[i])));
  const bool scaled =
      rule.protocol.kind == ProtocolKind::switch_top1 && rule.protocol.dropped == DroppedCells::scaled_input;
  const bool otherwise = scaled || (rule.mode != "weighted" && random.chance(0.3));
  return gather(std::move(results), space_of(flow), rule.mode, otherwise ? flow : kNone, name + ".joined");
}

ValueId RandomRouters::grouped(ValueId x, ValueId decision, const Rule& rule, const std::string& name) {
  const int64_t d = width_of(x);
  const SpaceId slots = routed_space(decision, kAllBranches);
  const auto product = [&](ValueId from, int64_t width, const std::string& part, bool active) {
    std::vector<ValueId> inputs{from, decision};
    std::vector<int64_t> branches;
    for (int64_t b = 0; b < rule.branches; ++b) {
      branches.push_back(b);
      inputs.push_back(drawn(name + ".expert." + std::to_string(b) + part, {width, width_of(from)}, 0.3));
    }
    Attributes attributes{{"branches", std::move(branches)}, {"slots", int64_t{slots}}};
    if (active) attributes.set("activation", std::string("silu"));
    return value("grouped_linear", std::move(inputs), std::move(attributes), name + part);
  };
  const ValueId up = product(x, d + 4, ".up", true), down = product(up, d, ".down", false);
  return gather({down}, space_of(x), rule.mode, kNone, name + ".joined");
}

/// The last branch is left out as long as it gets no cell.
ValueId RandomRouters::guarded(ValueId flow, ValueId decision, const Rule& rule, const std::vector<int32_t>& branches,
                               const std::string& name) {
  std::vector<int32_t> few(branches.begin(), branches.end() - 1);
  const ValueId empty =
      value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{branches.back()}}}, name + ".empty");
  // Both bodies use the same experts: a fallback answers as the taken body would.
  const auto body = [&](const std::vector<int32_t>& used) {
    begin_body();
    const std::vector<ValueId> parts = scatter(flow, decision, used);
    std::vector<ValueId> results;
    for (size_t i = 0; i < used.size(); ++i)
      results.push_back(linear(parts[i], width_of(flow), name + ".expert." + std::to_string(used[i]), "gelu"));
    end_body({gather(std::move(results), space_of(flow), rule.mode, kNone, name + ".joined")});
  };
  body(few);
  body(branches);
  return graph().node(add_region("guard", {empty}, {}, name + ".guard")).outputs[0];
}

ValueId RandomRouters::mixture(ValueId x, int depth, const std::string& name) {
  const ValueId flow = norm(x, name + ".norm");
  const Rule rule = draw_rule(space_of(x), depth);
  const ValueId decision = decide(flow, rule, name);
  const int32_t count = graph().value(decision).branches;
  std::vector<int32_t> branches;
  for (int32_t b = 0; b < count; ++b) branches.push_back(b);
  const bool drops = rule.protocol.dropped == DroppedCells::scaled_input;
  ValueId y = kNone;
  if (options_.grouped && count == rule.branches && !drops && rule.mode != "place" && random.chance(0.12)) {
    y = grouped(flow, decision, rule, name);
  } else if (options_.guards && count > 1 && !drops && random.chance(0.12)) {
    y = guarded(flow, decision, rule, branches, name);
  } else {
    if (count > 2 && !drops && random.chance(0.1)) branches.erase(branches.begin() + 1);  // a branch that leads nowhere
    y = join(flow, random.chance(0.2) ? x : kNone, decision, rule, branches, depth, name);
  }
  return residual(x, y, name);
}

ValueId RandomRouters::conv_mixture(ValueId maps, const std::string& name) {
  const ValueId pooled = value("pool", {maps}, {{"kind", std::string("global_average")}}, name + ".pooled");
  Rule rule;
  rule.branches = random.between(2, 4);
  rule.protocol.k = static_cast<int32_t>(random.between(1, 2));
  const ValueId decision = decide(pooled, rule, name);
  std::vector<int32_t> branches;
  for (int32_t b = 0; b < rule.branches; ++b) branches.push_back(b);
  const std::vector<ValueId> parts = scatter(maps, decision, branches);
  std::vector<ValueId> results;
  for (size_t i = 0; i < parts.size(); ++i)
    results.push_back(conv(parts[i], width_of(maps), i % 2 ? 1 : 3, 1, name + ".expert." + std::to_string(i), "silu"));
  return residual(maps, gather(std::move(results), space_of(maps), "weighted", kNone, name + ".joined"), name);
}

ValueId RandomRouters::twins(ValueId x, const std::string& name) {
  const ValueId flow = norm(x, name + ".norm");
  std::vector<ValueId> results;
  for (const char* side : {".left", ".right"}) {
    Rule rule;
    rule.branches = random.between(2, 3);
    const ValueId decision = decide(flow, rule, name + side);
    std::vector<int32_t> branches;
    for (int32_t b = 0; b < rule.branches; ++b) branches.push_back(b);
    const std::vector<ValueId> parts = scatter(flow, decision, branches);
    for (size_t i = 0; i < parts.size(); ++i)
      results.push_back(linear(parts[i], width_of(x), name + side + std::to_string(i), "gelu"));
  }
  return residual(x, gather(std::move(results), space_of(x), "sum", kNone, name + ".joined"), name);
}

void RandomRouters::exit_stage(ValueId x, int64_t left, int64_t width, const std::string& name,
                               std::vector<ValueId>& results) {
  x = random.chance(0.5) ? mixture(x, 1, name + ".mlp") : dense_block(x, name + ".mlp");
  if (left == 0) {
    results.push_back(linear(norm(x, name + ".norm"), width, name + ".last"));
    return;
  }
  const ValueId logits = linear(norm(x, name + ".norm"), 3, name + ".classifier", "none", true, 3);
  Rule rule;
  rule.protocol.kind = ProtocolKind::exit_threshold;
  rule.protocol.threshold = 0.7f;
  rule.protocol.residual = static_cast<int32_t>(random.below(2));
  const int32_t leave = rule.protocol.residual;
  const ValueId decision = route(logits, rule.protocol, name + ".exit");
  // Two flows of one decision: the answer of those that leave, the rows of those that go on.
  const ValueId leaving = scatter(logits, decision, {leave})[0], going = scatter(x, decision, {1 - leave})[0];
  const auto take_leave = [&] { results.push_back(linear(leaving, width, name + ".head")); };
  if (leave == 0) take_leave();
  exit_stage(going, left - 1, width, name + ".next", results);
  if (leave == 1) take_leave();
}

ValueId RandomRouters::exits(ValueId x, int64_t stages, const std::string& name) {
  std::vector<ValueId> results;
  exit_stage(x, stages, width_of(x), name, results);
  return residual(x, gather(std::move(results), space_of(x), "place", kNone, name + ".joined"), name);
}

}  // namespace stormcell::testing
