// Toys over images: a network of paths, patches to networks of unlike size.
#include <array>

#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

int64_t height_of(const CaseBuilder& b, ValueId maps) { return b.graph().value(maps).type.content[0].constant(); }
int64_t width_of(const CaseBuilder& b, ValueId maps) { return b.graph().value(maps).type.content[1].constant(); }

ValueId averaged(CaseBuilder& b, ValueId maps, const std::string& name) {
  return b.value("pool", {maps}, {{"kind", std::string("global_average")}}, name);
}
ValueId resized(CaseBuilder& b, ValueId maps, int64_t height, int64_t width, std::string mode,
                const std::string& name) {
  return b.value("resize", {maps}, {{"height", height}, {"width", width}, {"mode", std::move(mode)}}, name);
}
/// A branch's rows times the weights of the choices by which they are there.
ValueId weighed(CaseBuilder& b, ValueId rows, ValueId weights, const std::string& name) {
  return b.value("multiply", {rows, weights}, {}, name);
}
ValueId choice_weight(CaseBuilder& b, ValueId decision, SpaceId branch, const std::string& name) {
  return b.value("choice_weight", {decision}, {{"space", int64_t{branch}}}, name);
}

class PathNetwork {
 public:
  explicit PathNetwork(uint64_t seed) : b_(seed) {}

  RandomCase make() {
    images_ = b_.root_space("images", b_.bound_symbol("N", 5));
    const ValueId pixels = b_.floats("pixels", images_, {kSizes[0], kSizes[0] + 4, 3}, InputRole::pixels);
    arrivals_[0] = {b_.conv(pixels, kChannels[0], 3, 1, "stem", "relu")};
    for (int layer = 0; layer < 3; ++layer) {
      std::array<std::vector<ValueId>, 3> next;
      for (int scale = 0; scale < 3; ++scale)
        if (!arrivals_[static_cast<size_t>(scale)].empty()) node(layer, scale, next);
      arrivals_ = std::move(next);
    }
    std::vector<ValueId> heads;
    for (int scale = 0; scale < 3; ++scale) {
      const std::string name = "end." + std::to_string(scale);
      const ValueId maps = summed(scale, name);
      if (scale == 0) b_.output("maps", maps);
      heads.push_back(averaged(b_, maps, name + ".pooled"));
    }
    b_.output("logits", b_.linear(b_.value("concat", heads, {}, "heads"), 7, "classifier"));
    b_.exact = false;
    return b_.take("path network over maps of three sizes");
  }

 private:
  static constexpr std::array<int64_t, 3> kSizes{12, 6, 3}, kChannels{4, 6, 8};

  /// Returns what arrives at a node, from one router or from three: the rows of their branches, and of branches within
  /// these.
  ValueId summed(int scale, const std::string& name) {
    const std::vector<ValueId>& arrived = arrivals_[static_cast<size_t>(scale)];
    if (arrived.size() == 1 && b_.space_of(arrived[0]) == images_) return arrived[0];
    return b_.gather(arrived, images_, "sum", kNone, name + ".sum");
  }

  void node(int layer, int scale, std::array<std::vector<ValueId>, 3>& next) {
    const std::string name = "node." + std::to_string(layer) + "." + std::to_string(scale);
    ValueId maps = summed(scale, name);
    maps = b_.add(maps, b_.conv(maps, kChannels[static_cast<size_t>(scale)], 3, 1, name + ".cell", "relu"),
                  name + ".maps");
    const ValueId around =
        b_.value("pool", {maps},
                 {{"kind", std::string("max")}, {"size", int64_t{3}}, {"stride", int64_t{2}}, {"padding", int64_t{1}}},
                 name + ".around");
    std::vector<int> ways;  // up, on, down
    for (int way = -1; way <= 1; ++way)
      if (scale + way >= 0 && scale + way < 3) ways.push_back(way);
    Protocol gates;
    gates.kind = ProtocolKind::threshold;
    gates.threshold = -0.3f;
    if (layer == 0) gates.residual = 0;  // every image goes some way at first
    const ValueId scores = b_.linear(averaged(b_, around, name + ".seen"), static_cast<int64_t>(ways.size()),
                                     name + ".gates", "none", true, 2);
    const ValueId decision = b_.route(scores, gates, name);
    std::vector<int32_t> branches;
    for (size_t i = 0; i < ways.size(); ++i) branches.push_back(static_cast<int32_t>(i));
    const std::vector<ValueId> parts = b_.scatter(maps, decision, branches);
    for (size_t i = 0; i < ways.size(); ++i) {
      const std::string way = name + (ways[i] < 0 ? ".up" : ways[i] == 0 ? ".on" : ".down");
      const ValueId weight = choice_weight(b_, decision, b_.space_of(parts[i]), way + ".weight");
      std::vector<ValueId>& to = next[static_cast<size_t>(scale + ways[i])];
      if (ways[i] == 0 && scale == 1) {
        inner_router(parts[i], weight, way, to);
      } else {
        to.push_back(weighed(b_, moved(parts[i], scale, ways[i], way), weight, way + ".weighed"));
      }
    }
  }

  /// A map at its next size.
  ValueId moved(ValueId maps, int scale, int way, const std::string& name) {
    if (way == 0) return maps;
    const int64_t channels = kChannels[static_cast<size_t>(scale + way)];
    if (way > 0) return b_.conv(maps, channels, 3, 2, name);
    return resized(b_, b_.conv(maps, channels, 1, 1, name), 2 * height_of(b_, maps), 2 * width_of(b_, maps), "bilinear",
                   name + ".large");
  }

  /// Both of the inner router's weights and the outer's belong to its rows, which the next node takes as they are.
  void inner_router(ValueId maps, ValueId weight, const std::string& name, std::vector<ValueId>& to) {
    Protocol two;
    two.k = 2;
    const ValueId scores = b_.linear(averaged(b_, maps, name + ".pooled"), 3, name + ".router", "none", true, 3);
    const ValueId decision = b_.route(scores, two, name + ".inner");
    const std::vector<ValueId> parts = b_.scatter(maps, decision, {0, 1, 2}),
                               weights = b_.scatter(weight, decision, {0, 1, 2});
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string expert = name + ".expert." + std::to_string(i);
      const ValueId y = b_.conv(parts[i], b_.width_of(maps), i == 1 ? 1 : 3, 1, expert, "relu");
      const ValueId inner = choice_weight(b_, decision, b_.space_of(parts[i]), expert + ".weight");
      to.push_back(weighed(b_, weighed(b_, y, inner, expert + ".weighed"), weights[i], expert + ".weighed_twice"));
    }
  }

  CaseBuilder b_;
  SpaceId images_ = kNone;
  std::array<std::vector<ValueId>, 3> arrivals_;  // by scale
};

/// Three networks of unlike depth and width, from [h, w, 3] to the twelve channels that make twice as large a picture.
ValueId network(CaseBuilder& b, ValueId patches, int kind, const std::string& name) {
  if (kind == 0) return b.conv(patches, 12, 3, 1, name + ".only");
  const int64_t width = kind == 1 ? 6 : 10;
  ValueId y = b.conv(patches, width, 3, 1, name + ".first", "relu");
  for (int i = 0; i < kind; ++i) {
    const std::string block = name + ".block." + std::to_string(i);
    y = b.add(y, b.conv(b.conv(y, width, 3, 1, block + ".in", "relu"), width, 3, 1, block + ".out"), block);
  }
  if (kind == 2) y = b.value("concat", {y, patches}, {}, name + ".joined");
  return b.conv(y, 12, 3, 1, name + ".last");
}

constexpr int64_t kHeight = 10, kWidth = 11, kPatch = 6, kStride = 4,
                  kPatches = 6;  // two rows of three, the last column shifted by one

ValueId unfolded(CaseBuilder& b, ValueId pictures, SpaceId patches) {
  return b.value("unfold", {pictures},
                 {{"space", int64_t{patches}}, {"height", kPatch}, {"width", kPatch}, {"stride", kStride}}, "patches");
}
/// Twelve channels of each patch to one picture, twice as large in both directions.
ValueId folded(CaseBuilder& b, ValueId patches) {
  const ValueId large = b.value("pixel_shuffle", {patches}, {{"factor", int64_t{2}}}, "patches.large");
  return b.value("fold", {large}, {{"height", 2 * kHeight}, {"width", 2 * kWidth}, {"stride", 2 * kStride}}, "folded");
}

ValueId by_label(CaseBuilder& b, ValueId labels, int64_t branches, const std::string& name) {
  Protocol rule;
  rule.kind = ProtocolKind::label;
  return b.route(labels, rule, name, branches);
}

RandomCase patches_toy(uint64_t seed, bool labelled) {
  CaseBuilder b(seed);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 3)),
                patches = b.dense_space("patches", images, kPatches);
  const ValueId pixels = b.floats("pixels", images, {kHeight, kWidth, 3}, InputRole::pixels);
  const ValueId cut = unfolded(b, pixels, patches);
  ValueId decision = kNone;
  if (labelled) {
    decision = by_label(b, b.integers("class", patches, 3, InputRole::label), 3, "class.router");
  } else {
    const ValueId seen = averaged(b, b.conv(cut, 5, 3, 2, "score.conv", "relu"), "score.pooled");
    decision = b.route(b.linear(seen, 3, "score", "none", true, 4), {}, "score.router");
  }
  std::vector<ValueId> parts = b.scatter(cut, decision, {0, 1, 2});
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = network(b, parts[i], static_cast<int>(i), "network." + std::to_string(i));
  const ValueId joined = b.gather(std::move(parts), patches, "place", kNone, "joined");
  const ValueId large = resized(b, pixels, 2 * kHeight, 2 * kWidth, "bilinear", "pixels.large");
  b.output("picture", b.add(folded(b, joined), large, "picture"));
  b.output("patches", averaged(b, joined, "patches.pooled"));
  b.exact = false;  // relu may hide a pixel
  return b.take(labelled ? "patches by label" : "patches by score");
}

}  // namespace

RandomCase path_network_toy(uint64_t seed) { return PathNetwork(seed).make(); }
RandomCase labelled_patches_toy(uint64_t seed) { return patches_toy(seed, true); }
RandomCase scored_patches_toy(uint64_t seed) { return patches_toy(seed, false); }

RandomCase patches_of_routed_pictures_toy(uint64_t seed) {
  CaseBuilder b(seed);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 4)),
                patches = b.dense_space("patches", images, kPatches);
  const ValueId pixels = b.floats("pixels", images, {kHeight, kWidth, 3}, InputRole::pixels);
  const ValueId labels = b.integers("class", patches, 3, InputRole::label);
  // Nothing but the picture itself tells where it goes: some go each way.
  const ValueId seen = averaged(b, b.conv(pixels, 5, 3, 2, "whole.conv"), "whole.pooled");
  const ValueId decision = b.route(b.linear(seen, 2, "whole", "none", false, 4), {}, "whole.router");
  const std::vector<ValueId> parts = b.scatter(pixels, decision, {0, 1});
  const ValueId plain = resized(b, parts[0], 2 * kHeight, 2 * kWidth, "nearest", "plain");
  // The patches of the pictures in branch 1 are cells of the model's own space, whichever pictures came.
  const ValueId members = b.value("members", {decision}, {{"base", int64_t{patches}}}, "members");
  const SpaceId here = b.ragged_space(members, b.space_of(parts[1]));
  const ValueId cut = unfolded(b, parts[1], here);
  const ValueId inner = by_label(b, b.pack_branches(labels, members, decision, {1})[0], 3, "class.router");
  std::vector<ValueId> inside = b.scatter(cut, inner, {0, 1, 2});
  for (size_t i = 0; i < inside.size(); ++i)
    inside[i] = network(b, inside[i], static_cast<int>(i), "network." + std::to_string(i));
  const ValueId pictures = folded(b, b.gather(std::move(inside), here, "place", kNone, "joined"));
  b.output("picture", b.gather({plain, pictures}, images, "weighted", kNone, "picture"));
  b.exact = false;
  return b.take("patches of routed pictures");
}

}  // namespace stormcell::testing
