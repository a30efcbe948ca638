#include "tests/testing/random_maps.h"

#include <algorithm>

namespace stormcell::testing {
namespace {
std::vector<int32_t> all_of(int32_t branches) {
  std::vector<int32_t> all;
  for (int32_t b = 0; b < branches; ++b) all.push_back(b);
  return all;
}
}  // namespace

RandomCase RandomMaps::make() {
  const SpaceId images = root_space("images", bound_symbol("N", random.between(1, 4)));
  ValueId maps = floats("pixels", images, {random.between(4, 8), random.between(4, 8), 3}, InputRole::pixels);
  maps = conv(maps, random.chance(0.5) ? 4 : 6, 3, 1, "stem", "silu");
  const int64_t steps = random.between(1, 3);
  for (int64_t i = 0; i < steps; ++i) maps = step(maps, 0, "step." + std::to_string(i));
  const ValueId pooled = value("pool", {maps}, {{"kind", std::string("global_average")}}, "pooled");
  output("features", random.chance(0.5) ? mixture(linear(pooled, 8, "features"), 0, "mlp") : pooled);
  output("maps", maps);
  const int64_t channels = width_of(maps);
  const ValueId mean = drawn("maps.mean", {channels}, 0.3), deviation = drawn("maps.deviation", {channels}, 0.1, 1);
  output("standard", value("standardize", {maps, mean, deviation}, {}, "standard"));
  const ValueId centres = drawn("centres", {3, width_of(pooled)}, 0.5);
  output("distances",
         value("squared_distance", {pooled, centres}, {{"reciprocal", int64_t{random.chance(0.5)}}}, "distances"));
  const auto weight = [&](const char* name) { return drawn(name, {channels, 3, 3, channels}, 0.2); };
  const auto bias = [&](const char* name) { return drawn(name, {channels}, 0.2); };
  output("chain", value("residual_blocks",
                        {maps, weight("chain.0"), bias("chain.1"), weight("chain.2"), bias("chain.3")}, {}, "chain"));
  const int64_t kernel = random.between(1, 3);
  output("separable", value("separable_conv2d",
                            {maps, drawn("separable.depthwise", {channels, kernel, kernel, 1}, 0.3),
                             drawn("separable.pointwise", {5, 1, 1, channels}, 0.3), drawn("separable.bias", {5}, 0.2)},
                            {{"stride", random.between(1, 2)},
                             {"padding", kernel / 2},
                             {"activation", std::string(random.chance(0.5) ? "relu" : "silu")},
                             {"extras", std::string("bias")}},
                            "separable"));
  windows(maps, images);
  grouped_branches(maps, pooled);
  exact = false;
  return take("maps");
}

/// Branches of convolutions and of norms as horizontal fusion leaves them, of some of the decision's branches.
void RandomMaps::grouped_branches(ValueId maps, ValueId pooled) {
  Rule rule;
  rule.branches = random.between(2, 4);
  rule.protocol.k = static_cast<int32_t>(random.between(1, 2));
  const ValueId decision = decide_by(maps, rule, "grouped");
  const SpaceId slots = routed_space(decision, kAllBranches);
  std::vector<int64_t> branches;
  for (int64_t b = random.chance(0.3) ? 1 : 0; b < rule.branches; ++b) branches.push_back(b);
  const auto attributes = [&] { return Attributes{{"branches", branches}, {"slots", int64_t{slots}}}; };
  const auto weights = [&](std::vector<ValueId>& inputs, const std::string& name, const std::vector<int64_t>& shape) {
    for (const int64_t b : branches) inputs.push_back(drawn(name + "." + std::to_string(b), shape, 0.2));
  };
  const int64_t channels = width_of(maps);
  const bool biases = random.chance(0.7), sent = random.chance(0.4);
  const ValueId x = sent ? scatter(maps, decision, {kAllBranches})[0] : maps;
  std::vector<ValueId> inputs{x, decision};
  weights(inputs, "grouped.conv", {channels, 3, 3, channels});
  if (biases) weights(inputs, "grouped.bias", {channels});
  Attributes of_conv = attributes();
  of_conv.set("biases", int64_t{biases});
  of_conv.set("padding", int64_t{1});
  if (random.chance(0.5)) of_conv.set("activation", std::string("silu"));
  if (sent && random.chance(0.5)) {
    inputs.push_back(x), of_conv.set("extras", std::string("residual"));
    if (of_conv.has("activation")) of_conv.set("residual_first", int64_t{biases});
  }
  ValueId y = value("grouped_conv2d", std::move(inputs), std::move(of_conv), "grouped.conv");
  inputs = {y, decision};
  for (const char* part : {"grouped.w", "grouped.b", "grouped.v", "grouped.d"})
    weights(inputs, part,
            std::string_view(part).ends_with("w") || std::string_view(part).ends_with("v")
                ? std::vector<int64_t>{channels, 3, 3, channels}
                : std::vector<int64_t>{channels});
  y = value("grouped_residual_blocks", std::move(inputs), attributes(), "grouped.chain");
  const auto join = [&](ValueId rows, const std::string& name) {
    const ValueId joined = gather({rows}, space_of(maps), "weighted", kNone, name);
    graph().node(graph().value(joined).producer).attributes.set("branches", branches);
    output(name, joined);
  };
  join(y, "grouped.maps");
  const int64_t width = width_of(pooled);
  inputs = {pooled, decision};
  weights(inputs, "grouped.gain", {width}), weights(inputs, "grouped.shift", {width});
  Attributes of_norm = attributes();
  of_norm.set("eps", 1e-5);
  join(value("grouped_layer_norm", std::move(inputs), std::move(of_norm), "grouped.norm"), "grouped.rows");
}

/// Pixels are cells that attend in windows, of half the grid where it divides; four of them become one.
void RandomMaps::windows(ValueId maps, SpaceId images) {
  const int64_t height = extent(maps, 0), width = extent(maps, 1), channels = width_of(maps);
  const auto side = [&](int64_t whole) { return whole % 2 == 0 && random.chance(0.7) ? whole / 2 : whole; };
  const int64_t window_height = side(height), window_width = side(width),
                heads = channels % 2 == 0 && random.chance(0.5) ? 2 : 1;
  const ValueId cells = value("unfold", {maps},
                              {{"space", int64_t{dense_space("pixel", images, height * width)}},
                               {"height", int64_t{1}},
                               {"width", int64_t{1}},
                               {"stride", int64_t{1}},
                               {"flat", int64_t{true}}},
                              "pixel.cells");
  const ValueId normed =
      value("layer_norm", {cells, drawn("window.gain", {channels}, 0.1, 1), drawn("window.shift", {channels}, 0.1)},
            {{"eps", 1e-5}}, "window.norm");
  const bool cosine = random.chance(0.5);
  std::vector<ValueId> inputs{linear(normed, channels, "window.q"), linear(normed, channels, "window.k"),
                              linear(normed, 2 * channels, "window.v"),
                              drawn("window.bias", {(2 * window_height - 1) * (2 * window_width - 1), heads}, 0.5)};
  Attributes attributes{{"heads", heads},
                        {"height", height},
                        {"width", width},
                        {"window_height", window_height},
                        {"window_width", window_width},
                        {"shift_height", random.between(0, window_height - 1)},
                        {"shift_width", random.between(0, window_width - 1)},
                        {"cosine", int64_t{cosine}},
                        {"extras", std::string(cosine ? "bias+scales" : "bias")}};
  if (cosine) inputs.push_back(drawn("window.scales", {heads}, 0.5, 1));
  const ValueId mixed = value("window_attention", std::move(inputs), std::move(attributes), "window");
  if (height % 2 != 0 || width % 2 != 0) return output("windows", mixed);
  output("windows", value("merge_cells", {mixed},
                          {{"space", int64_t{dense_space("square", images, height * width / 4)}},
                           {"height", height},
                           {"width", width},
                           {"order", std::string(random.chance(0.5) ? "rows" : "columns")}},
                          "squares"));
}

ValueId RandomMaps::step(ValueId maps, int depth, const std::string& name) {
  const double kind = random.uniform();
  if (kind < 0.3) return router(maps, depth, name + ".router");
  if (kind < 0.5) return several_routers(maps, depth, name + ".several");
  if (kind < 0.75) return patches(maps, depth, name + ".patches");
  if (kind < 0.9 && depth == 0) return patches_of_branches(maps, name + ".pictures");
  return work(maps, 1, name);
}

ValueId RandomMaps::other_size(ValueId maps, const std::string& name) {
  const int64_t height = extent(maps, 0), width = extent(maps, 1), channels = width_of(maps);
  ValueId y = maps;
  const double kind = random.uniform();
  if (kind < 0.35) {
    y = conv(maps, channels + 2, 3, 2, name + ".small", "relu");
  } else if (kind < 0.7) {
    const int64_t size = std::min({int64_t{3}, height, width});
    y = value("pool", {maps},
              {{"kind", std::string(random.chance(0.5) ? "max" : "average")},
               {"size", size},
               {"stride", random.between(1, 2)},
               {"padding", random.between(0, 1)}},
              name + ".pooled");
  } else {
    y = value("pixel_shuffle", {conv(maps, 4 * channels, 1, 1, name + ".deep")}, {{"factor", int64_t{2}}},
              name + ".shuffled");
  }
  y = value("resize", {y},
            {{"height", height}, {"width", width}, {"mode", std::string(random.chance(0.6) ? "bilinear" : "nearest")}},
            name + ".resized");
  return conv(y, channels, 1, 1, name + ".back");
}

ValueId RandomMaps::work(ValueId maps, int depth, const std::string& name) {
  const int64_t channels = width_of(maps);
  const double kind = random.uniform();
  if (kind < 0.08) return maps;  // a branch without any work
  if (kind < 0.35) return conv(maps, channels, random.chance(0.5) ? 3 : 1, 1, name + ".conv", "silu");
  if (kind < 0.65) return other_size(maps, name);
  if (kind < 0.8 || depth > 1) {
    const ValueId joined = value("concat", {maps, conv(maps, 3, 3, 1, name + ".more", "relu")}, {}, name + ".joined");
    return conv(joined, channels, 1, 1, name + ".fewer");
  }
  return step(maps, depth + 1, name + ".inner");
}

ValueId RandomMaps::decide_by(ValueId maps, const Rule& rule, const std::string& name) {
  return decide(value("pool", {maps}, {{"kind", std::string("global_average")}}, name + ".seen"), rule, name);
}

/// Rows of a branch times the weights of their choices.
ValueId RandomMaps::weigh(ValueId rows, ValueId decision, const std::string& name) {
  const ValueId weight = value("choice_weight", {decision}, {{"space", int64_t{space_of(rows)}}}, name + ".weight");
  return value("multiply", {rows, weight}, {}, name + ".weighed");
}

ValueId RandomMaps::router(ValueId maps, int depth, const std::string& name) {
  const Rule rule = draw_rule(space_of(maps), depth);
  const ValueId decision = decide_by(maps, rule, name);
  const std::vector<int32_t> branches = all_of(graph().value(decision).branches);
  const bool scaled =
      rule.protocol.kind == ProtocolKind::switch_top1 && rule.protocol.dropped == DroppedCells::scaled_input;
  const bool by_value = rule.mode == "weighted" && !scaled && random.chance(0.5);
  std::vector<ValueId> parts = scatter(maps, decision, branches);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string branch = name + "." + std::to_string(i);
    parts[i] = work(parts[i], depth + 1, branch);
    if (by_value) parts[i] = weigh(parts[i], decision, branch);
  }
  const bool otherwise = scaled || (rule.mode != "weighted" && random.chance(0.3));
  return residual(maps,
                  gather(std::move(parts), space_of(maps), by_value ? "sum" : rule.mode, otherwise ? maps : kNone,
                         name + ".joined"),
                  name);
}

ValueId RandomMaps::several_routers(ValueId maps, int depth, const std::string& name) {
  std::vector<ValueId> arrived;
  const int64_t routers = random.between(2, 3);
  for (int64_t r = 0; r < routers; ++r) {
    const std::string mine = name + "." + std::to_string(r);
    Rule rule;
    rule.branches = random.between(2, 3);
    rule.protocol.k = static_cast<int32_t>(random.between(1, 2));
    if (random.chance(0.5)) rule.protocol = {.kind = ProtocolKind::threshold};
    const ValueId decision = decide_by(maps, rule, mine);
    if (r == 2) {  // rows of all cells: of the weights of one branch, and none
      const ValueId weight = value("choice_weight", {decision},
                                   {{"space", int64_t{space_of(maps)}}, {"branch", int64_t{0}}}, mine + ".first");
      const std::vector<int64_t> shape{extent(maps, 0), extent(maps, 1), width_of(maps)};
      arrived.push_back(value("multiply", {maps, weight}, {}, mine + ".all"));
      arrived.push_back(value("zeros", {}, {{"space", int64_t{space_of(maps)}}, {"shape", shape}}, mine + ".none"));
    }
    std::vector<ValueId> parts = scatter(maps, decision, all_of(static_cast<int32_t>(rule.branches)));
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string branch = mine + ".way." + std::to_string(i);
      const ValueId rows = weigh(work(parts[i], 2, branch), decision, branch);
      if (depth > 0 || i > 0 || !random.chance(0.5)) {
        arrived.push_back(rows);
        continue;
      }
      // A router within the branch, whose rows go to the sum as they are.
      Rule inner;
      inner.branches = 2;
      const ValueId within = decide_by(rows, inner, branch + ".inner");
      const std::vector<ValueId> inside = scatter(rows, within, {0, 1});
      for (size_t k = 0; k < inside.size(); ++k) {
        const std::string way = branch + ".inner." + std::to_string(k);
        arrived.push_back(weigh(work(inside[k], 2, way), within, way));
      }
    }
  }
  return gather(std::move(arrived), space_of(maps), "sum", random.chance(0.3) ? maps : kNone, name + ".sum");
}

RandomMaps::Cut RandomMaps::draw_cut(ValueId maps) {
  Cut cut{random.between(2, extent(maps, 0)), random.between(2, extent(maps, 1)), 0, 0};
  cut.stride = random.between(1, std::min(cut.height, cut.width));
  const auto steps = [&](int64_t whole, int64_t patch) { return (whole - patch + cut.stride - 1) / cut.stride + 1; };
  cut.patches = steps(extent(maps, 0), cut.height) * steps(extent(maps, 1), cut.width);
  return cut;
}
ValueId RandomMaps::unfold(ValueId maps, SpaceId space, const Cut& cut, const std::string& name) {
  return value("unfold", {maps},
               {{"space", int64_t{space}}, {"height", cut.height}, {"width", cut.width}, {"stride", cut.stride}},
               name + ".cut");
}
ValueId RandomMaps::fold(ValueId cells, ValueId like, const Cut& cut, const std::string& name) {
  return value("fold", {cells}, {{"height", extent(like, 0)}, {"width", extent(like, 1)}, {"stride", cut.stride}},
               name + ".folded");
}

/// Patches of all pictures, routed where no decision is above them.
ValueId RandomMaps::patches(ValueId maps, int depth, const std::string& name) {
  const Cut cut = draw_cut(maps);
  const SpaceId space = dense_space(name, space_of(maps), cut.patches);
  const ValueId cells = unfold(maps, space, cut, name);
  const ValueId worked = graph().is_dynamic(space) ? work(cells, 2, name) : router(cells, depth + 1, name);
  return fold(worked, maps, cut, name);
}

/// Pictures are routed, and those of a branch cut into patches there, which a router of their own tells apart.
ValueId RandomMaps::patches_of_branches(ValueId maps, const std::string& name) {
  const Cut cut = draw_cut(maps);
  const SpaceId base = dense_space(name + ".base", space_of(maps), cut.patches);
  Rule rule;
  rule.branches = random.between(2, 3);
  rule.protocol.k = static_cast<int32_t>(random.between(1, 2));
  const ValueId decision = decide_by(maps, rule, name);
  const ValueId members = value("members", {decision}, {{"base", int64_t{base}}}, name + ".members");
  const bool slots_only = random.chance(0.15), labelled = !slots_only && random.chance(0.5);
  const std::vector<int32_t> branches =
      slots_only ? std::vector<int32_t>{kAllBranches} : all_of(static_cast<int32_t>(rule.branches));
  std::vector<ValueId> parts = scatter(maps, decision, branches), labels;
  if (labelled)
    labels = pack_branches(integers(name + ".class", base, 2, InputRole::label), members, decision, branches);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string branch = name + ".branch." + std::to_string(i);
    const ValueId whole = parts[i];
    const ValueId cells = unfold(whole, ragged_space(members, space_of(whole)), cut, branch);
    ValueId worked = kNone;
    if (labelled) {
      Protocol by_label;
      by_label.kind = ProtocolKind::label;
      const ValueId inner = route(labels[i], by_label, branch + ".router", 2);
      std::vector<ValueId> inside = scatter(cells, inner, {0, 1});
      for (size_t k = 0; k < 2; ++k) inside[k] = work(inside[k], 2, branch + ".class." + std::to_string(k));
      worked = gather(std::move(inside), space_of(cells), "place", kNone, branch + ".joined");
    } else {
      worked = slots_only ? work(cells, 2, branch) : router(cells, 1, branch);
    }
    parts[i] = fold(worked, whole, cut, branch);
  }
  return gather(std::move(parts), space_of(maps), "weighted", kNone, name + ".joined");
}

}  // namespace stormcell::testing
