// Pictures through layers that keep maps of several scales at once; after each block of layers an exit may answer, and
// pictures of which it is sure go no further: MSDNet (Huang et al., ICLR 2018), in the form of the artifact of
// Brainstorm (OSDI'23).
//
//   x_0..x_S  = stem(standardize(pixels))             finest first; each scale has half the extents of the one before
//   x_s       = concat(x_s, down(x_{s-1}), normal(x_s))   a layer; of the finest concat(x_0, normal(x_0))
//   logits_b  = head(mean(conv(conv(x_S))))           after block b
//   exit      where the largest softmax(logits_b) >= threshold_b; the others go on with all their maps
//   logits    = of the exit that each picture took
//
// `down` and `normal` are a 1 x 1 convolution to fewer channels and one of 3 x 3; each convolution is followed by batch
// norm and ReLU, and its norm is folded into its weights by recipe. In parts of the layers the finest scale is dropped,
// and 1 x 1 convolutions reduce the others. Keys, tensors and shapes: docs/models.md. No published model has this
// configuration.
#include <array>
#include <cmath>
#include <map>

#include "core/cell/router_threshold.h"
#include "core/models/family.h"
#include "core/models/layers.h"
#include "core/models/msdnet_plan.h"

namespace stormcell {
namespace msdnet_family {
namespace {

using namespace msdnet;

constexpr int64_t kLeastSide = 8, kMostChannels = 4096, kMostScales = 8, kMostLayers = 1000, kMostFactor = 256;
constexpr std::array kKeys =
    keys_read("image_size", "num_channels", "num_labels", "initial_channels", "growth_rate", "scale_factors",
              "bottleneck_factors", "bottleneck", "block_layers", "prune", "reduction", "stem", "classifier_channels",
              "exit_thresholds", "batch_norm_eps", "id2label");

std::vector<double> read_thresholds(const Config& config, int64_t exits) {
  const std::vector<double> given = config.reals("exit_thresholds", is_exit_threshold, kExitThresholdRange);
  if (given.empty()) return std::vector<double>(exits, 0.9);
  if (std::ssize(given) != exits)
    config.refuse("exit_thresholds", std::to_string(exits) + " numbers, one for each block but the last");
  return given;
}

Settings read_settings(const Config& config) {
  Settings s;
  s.channels = config.integer("num_channels", 3, 1, 64);
  s.labels = config.integer("num_labels", 1000, 2, 1 << 16);
  s.initial = config.integer("initial_channels", 32, 1, kMostChannels);
  s.growth = config.integer("growth_rate", 16, 2, kMostChannels);
  s.factors = config.integers("scale_factors", 1, kMostFactor);
  if (s.factors.empty()) s.factors = {1, 2, 4, 4};
  if (s.scales() > kMostScales)
    config.refuse("scale_factors", "1 to " + std::to_string(kMostScales) + " numbers, one a scale");
  for (int64_t scale = 1; scale < s.scales(); ++scale)
    if (s.growth * s.factors[scale] % 2 != 0)
      config.refuse("growth_rate",
                    "an even number of channels at every scale but the finest: half come from each side");
  s.bottlenecks = config.integers("bottleneck_factors", 1, kMostFactor);
  if (s.bottlenecks.empty()) s.bottlenecks = s.factors;
  if (s.bottlenecks.size() != s.factors.size())
    config.refuse("bottleneck_factors", "as many numbers as scale_factors has: " + std::to_string(s.scales()));
  s.bottleneck = config.boolean("bottleneck", true);
  s.block_layers = config.integers("block_layers", 1, kMostLayers);
  if (s.block_layers.empty()) s.block_layers = {4, 4, 4, 4, 4};
  if (s.layers() > kMostLayers || s.layers() < s.scales())
    config.refuse("block_layers", "layers of the blocks, together at least as many as scales and at most " +
                                      std::to_string(kMostLayers));
  s.pruned = config.word("prune", "max", {"max", "none"}) == "max";
  s.reduction = config.real("reduction", 0.5, 1.0 / 64, 1);
  s.pooled_stem = config.word("stem", "pooled", {"pooled", "plain"}) == "pooled";
  s.classifier = config.integer("classifier_channels", 0, 0, kMostChannels);
  s.thresholds = read_thresholds(config, s.blocks() - 1);
  s.eps = config.real("batch_norm_eps", 1e-5, 1e-12, 1);
  return s;
}

class MsdnetBuilder : public LayerBuilder {
 public:
  MsdnetBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s), plan_(msdnet::plan(s)) {}

  Graph forward(PictureSize size) {
    pictures_ = root_space("picture", symbol(kSequences));
    const ValueId pixels =
        input("pixels", DType::f32, pictures_, {size.height, size.width, s_.channels}, InputRole::pixels);
    std::vector<ValueId> maps = stem(pixels), exits;
    for (size_t b = 0; b < plan_.blocks.size(); ++b) {
      for (const Layer& l : plan_.blocks[b].layers) maps = layer(l, std::move(maps));
      const ValueId logits = classified(plan_.blocks[b], maps.back(), "exits." + std::to_string(b));
      exits.push_back(b + 1 < plan_.blocks.size() ? exit(logits, maps, b) : logits);
    }
    output("logits", exits.size() == 1 ? exits.front() : gather(std::move(exits), pictures_, "place", kNone, "logits"));
    return finish();
  }

 private:
  ValueId unit(ValueId x, const Unit& u) {
    return convolution(u.reduce ? convolution(x, *u.reduce) : x, u.convolution);
  }

  /// relu(norm(conv(x))), the norm within the weights.
  ValueId convolution(ValueId x, const Convolution& c) {
    const ValueId y = normed_convolution(x, c.name, {c.out, c.size, c.stride, c.bias}, s_.eps);
    return activation(y, "relu", c.name + ".relu");
  }

  std::vector<ValueId> stem(ValueId pixels) {
    std::vector<ValueId> maps;
    ValueId x = standardized(pixels, "pixels.standard");
    for (const Convolution& c : plan_.stem) {
      x = convolution(x, c);
      if (maps.empty() && s_.pooled_stem)
        x = value("pool", {x},
                  {{"kind", std::string("max")}, {"size", int64_t{3}}, {"stride", int64_t{2}}, {"padding", int64_t{1}}},
                  "stem.pool");
      maps.push_back(x);
    }
    return maps;
  }

  /// `maps` are those of the scales from layer.finest_in on, and those of the result from layer.finest_out on.
  std::vector<ValueId> layer(const Layer& l, std::vector<ValueId> maps) {
    std::vector<ValueId> results;
    for (size_t i = 0; i < l.steps.size(); ++i) {
      const int64_t scale = l.finest_out + static_cast<int64_t>(i);
      const ScaleStep& step = l.steps[i];
      const auto at = [&](int64_t of) { return maps[of - l.finest_in]; };
      std::vector<ValueId> parts{at(scale)};
      if (step.down) parts.push_back(unit(at(scale - 1), *step.down));
      parts.push_back(unit(at(scale), step.normal));
      ValueId y = value("concat", std::move(parts), {}, step.name + ".joined");
      if (!l.transition.empty()) y = convolution(y, l.transition[i]);
      results.push_back(y);
    }
    return results;
  }

  ValueId classified(const msdnet::Block& block, ValueId x, const std::string& name) {
    for (const Convolution& c : block.classifier) x = convolution(x, c);
    return linear(global_average(x, name + ".mean"), name + ".head", s_.labels, {}, true);
  }

  /// The logits of pictures that answer here; `maps` become those of the others.
  ValueId exit(ValueId logits, std::vector<ValueId>& maps, size_t block) {
    constexpr int32_t kExit = 0, kOn = 1;
    Protocol rule;
    rule.kind = ProtocolKind::exit_threshold;
    rule.threshold = static_cast<float>(s_.thresholds[block]);
    rule.residual = kExit;
    const ValueId decision = route(logits, rule, "exits." + std::to_string(block) + ".router");
    const ValueId answered = scatter(logits, decision, {kExit})[0];
    for (ValueId& x : maps) x = scatter(x, decision, {kOn})[0];
    return answered;
  }

  const Settings& s_;
  Plan plan_;
  SpaceId pictures_;
};

class Msdnet final : public Architecture {
 public:
  Msdnet(Settings settings, PictureSize picture, std::vector<std::string> classes)
      : s_(std::move(settings)), picture_(picture), classes_(std::move(classes)) {
    const Plan plan = msdnet::plan(s_);
    plan.visit([&](const Convolution& c) { fan_in_[c.name] = c.in * c.size * c.size; });
    for (const msdnet::Block& block : plan.blocks) features_.push_back(block.features);
  }

  void describe(Model& model) const override {
    model.picture = picture_;
    model.sizes = PictureSizes{kLeastSide, kMostSide};
    model.classes = classes_;
    model.answer = {Task::classification, std::string(kLogits), s_.labels};
  }
  Graph forward(WeightCatalog& weights, PictureSize picture) const override {
    return MsdnetBuilder(s_, weights).forward(picture);
  }

  /// Second moments are kept from layer to layer; pixels are as uniform ones from 0 to 1 are; a head's logits deviate
  /// by about kDeviation.
  Initialisation initialisation(std::string_view name) const override {
    constexpr double kDeviation = 3;
    if (const auto neutral = neutral_initialisation(name)) return *neutral;
    if (const auto at = fan_in_.find(name.substr(0, name.rfind('.'))); at != fan_in_.end()) return kaiming(at->second);
    return {0, kDeviation / std::sqrt(static_cast<double>(features_.at(static_cast<size_t>(number_at(name, 1)))))};
  }

 private:
  Settings s_;
  PictureSize picture_;
  std::vector<std::string> classes_;
  std::map<std::string, int64_t, std::less<>> fan_in_;  ///< numbers that one output of a convolution is a sum of
  std::vector<int64_t> features_;                       ///< of each head
};

}  // namespace
}  // namespace msdnet_family

std::span<const ConfigKey> keys_of_msdnet() { return msdnet_family::kKeys; }

std::unique_ptr<const Architecture> configure_msdnet(const Config& config, const Config&, const WeightCatalog*) {
  msdnet::Settings settings = msdnet_family::read_settings(config);
  bool leaves_channels = true;
  msdnet::plan(settings).visit(
      [&](const msdnet::Convolution& c) { leaves_channels = leaves_channels && c.in > 0 && c.out > 0; });
  if (!leaves_channels) config.refuse("reduction", "a share that leaves a channel where a scale is dropped");
  std::vector<std::string> classes = config.names("id2label", settings.labels);
  return std::make_unique<msdnet_family::Msdnet>(
      std::move(settings), read_picture(config, msdnet_family::kLeastSide, {224, 224}), std::move(classes));
}

}  // namespace stormcell
