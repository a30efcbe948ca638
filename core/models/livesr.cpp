// A frame enlarged patch by patch: a classifier's features of a patch say which of several small networks enlarges it:
// LiveSR, in the form of the artifact of Brainstorm (OSDI'23).
//
//   patches = unfold(pixels)                               patch_size x patch_size, patch_stride apart
//   f       = mean(resnet(standardize(patch)))             ResNet of basic blocks (He et al., CVPR 2016), without
//                                                          its head
//   score_k = 1 / |f - clusters_k|^2                       the nearest cluster's network takes the patch
//   y       = head(patch)                                  convolutions of 3 x 3 in the network
//   z       = y + end(blocks(y)), a block x + second(relu(first(x)))
//   result  = tail(up(z))                                  up: a convolution to 4 F channels and a pixel shuffle,
//                                                          once for each doubling
//   picture = fold(results)                                overlapping patches: their mean
//
// Norms of the classifier are folded into its convolutions by recipe. Keys, tensors and shapes: docs/models.md.
#include <array>
#include <cmath>

#include "core/graph/patch_grid.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace livesr_family {
namespace {

constexpr int64_t kMostPatch = 256, kMostChannels = 4096, kMostSubnets = 256, kMostBlocks = 1000, kMostStages = 8;
/// The least patch that a pooled stem leaves a window of 3 x 3 of.
constexpr int64_t kLeastPooled = 5;
constexpr std::array kKeys = keys_read("image_size", "num_channels", "patch_size", "patch_stride", "border", "upscale",
                                       "num_subnets", "subnet_channels", "subnet_blocks", "normalization",
                                       "classifier_stem", "classifier_channels", "classifier_blocks", "batch_norm_eps");

struct Settings {
  PictureSize picture;
  int64_t channels = 3, patch = 32, stride = 28, upscale = 4;
  PatchBorder border = PatchBorder::shift;
  std::vector<int64_t> subnet_channels, subnet_blocks;          ///< of each network
  std::vector<int64_t> classifier_channels, classifier_blocks;  ///< of each stage
  bool standardized = true, pooled_stem = true;
  double eps = 1e-5;

  int64_t subnets() const { return std::ssize(subnet_channels); }
  int64_t doublings() const { return static_cast<int64_t>(std::log2(static_cast<double>(upscale))); }
  int64_t features() const { return classifier_channels.back(); }
};

void read_classifier(const Config& config, Settings& s) {
  s.standardized = config.word("normalization", "standardize", {"standardize", "none"}) == "standardize";
  s.pooled_stem = config.word("classifier_stem", "pooled", {"pooled", "plain"}) == "pooled";
  if (s.pooled_stem && s.patch < kLeastPooled)
    config.refuse("patch_size", std::to_string(kLeastPooled) + " or more with a pooled stem of the classifier");
  s.classifier_channels = config.integers("classifier_channels", 1, kMostChannels);
  if (s.classifier_channels.empty()) s.classifier_channels = {64, 128, 256, 512};
  if (std::ssize(s.classifier_channels) > kMostStages)
    config.refuse("classifier_channels", "1 to " + std::to_string(kMostStages) + " widths, one a stage");
  s.classifier_blocks = config.integers("classifier_blocks", 1, kMostBlocks);
  if (s.classifier_blocks.empty()) s.classifier_blocks.assign(s.classifier_channels.size(), 2);
  if (s.classifier_blocks.size() != s.classifier_channels.size())
    config.refuse("classifier_blocks",
                  "as many numbers as classifier_channels has: " + std::to_string(s.classifier_channels.size()));
  s.eps = config.real("batch_norm_eps", 1e-5, 1e-12, 1);
}

Settings read_settings(const Config& config) {
  Settings s;
  s.channels = config.integer("num_channels", 3, 1, 64);
  s.patch = config.integer("patch_size", 32, 1, kMostPatch);
  s.stride = config.integer("patch_stride", std::min<int64_t>(28, s.patch), 1, s.patch);
  s.border = config.word("border", "shift", {"shift", "cut"}) == "cut" ? PatchBorder::cut : PatchBorder::shift;
  s.upscale = config.integer("upscale", 4, 1, 16);
  if ((s.upscale & (s.upscale - 1)) != 0) config.refuse("upscale", "1, 2, 4, 8 or 16");
  const size_t subnets = config.integer("num_subnets", 10, 1, kMostSubnets);
  s.subnet_channels = config.integers_of_each("subnet_channels", {8}, subnets, "networks", 1, kMostChannels);
  s.subnet_blocks = config.integers_of_each("subnet_blocks", {80}, subnets, "networks", 0, kMostBlocks);
  read_classifier(config, s);
  s.picture = read_picture(config, s.patch, {std::max<int64_t>(240, s.patch), std::max<int64_t>(320, s.patch)});
  return s;
}

class LivesrBuilder : public LayerBuilder {
 public:
  LivesrBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {}

  Graph forward(PictureSize size) {
    const PatchGrid grid{size.height, size.width, s_.patch, s_.patch, s_.stride, s_.border};
    const SpaceId pictures = root_space("picture", symbol(kSequences)),
                  cells = dense_space("patch", pictures, grid.patches());
    const ValueId pixels =
        input("pixels", DType::f32, pictures, {size.height, size.width, s_.channels}, InputRole::pixels);
    const ValueId patches = value("unfold", {pixels},
                                  {{"space", int64_t{cells}},
                                   {"height", s_.patch},
                                   {"width", s_.patch},
                                   {"stride", s_.stride},
                                   {"border", std::string(s_.border == PatchBorder::cut ? "cut" : "shift")}},
                                  "patches");
    const ValueId enlarged = mixture(patches, decided(patches), Joined::in_place, "enlarged",
                                     [&](ValueId patch, int32_t k) { return subnet(patch, k); });
    output("picture", value("fold", {enlarged},
                            {{"height", grid.covered_height() * s_.upscale},
                             {"width", grid.covered_width() * s_.upscale},
                             {"stride", s_.stride * s_.upscale}},
                            "picture"));
    return finish();
  }

 private:
  ValueId conv(ValueId x, const std::string& prefix, int64_t outputs) {
    return convolution(x, prefix, {.outputs = outputs});
  }
  ValueId relu(ValueId x, const std::string& name) { return activation(x, "relu", name + ".relu"); }

  ValueId stem(ValueId x) {
    const std::string name = "classifier.stem";
    const int64_t channels = s_.classifier_channels.front();
    if (!s_.pooled_stem) return relu(normed_convolution(x, name, {channels, 3, 1, false}, s_.eps), name);
    x = relu(normed_convolution(x, name, {channels, 7, 2, false}, s_.eps), name);
    return value("pool", {x},
                 {{"kind", std::string("max")}, {"size", int64_t{3}}, {"stride", int64_t{2}}, {"padding", int64_t{1}}},
                 name + ".pool");
  }

  /// relu(x + second(relu(first(x)))), both with their norms; where channels or extents change, x goes through a
  /// convolution of 1 x 1.
  ValueId basic_block(ValueId x, const std::string& name, int64_t channels, int64_t stride) {
    ValueId y = relu(normed_convolution(x, name + ".first", {channels, 3, stride, false}, s_.eps), name + ".first");
    y = normed_convolution(y, name + ".second", {channels, 3, 1, false}, s_.eps);
    if (stride != 1 || width(x) != channels)
      x = normed_convolution(x, name + ".shortcut", {channels, 1, stride, false}, s_.eps);
    return relu(add(x, y, name), name);
  }

  ValueId decided(ValueId x) {
    if (s_.standardized) x = standardized(x, "patches.standard");
    x = stem(x);
    for (size_t stage = 0; stage < s_.classifier_channels.size(); ++stage)
      for (int64_t i = 0; i < s_.classifier_blocks[stage]; ++i)
        x = basic_block(x, "classifier.layers." + std::to_string(stage) + "." + std::to_string(i),
                        s_.classifier_channels[stage], stage > 0 && i == 0 ? 2 : 1);
    const ValueId features = global_average(x, "classifier.features");
    std::vector<Recipe> centres;
    for (int64_t k = 0; k < s_.subnets(); ++k) {
      const std::string name = "clusters." + std::to_string(k);
      catalog().need(name, {s_.features()});
      centres.push_back(tensor_recipe(name));
    }
    const ValueId scores =
        value("squared_distance",
              {features, made("clusters", stack_recipe(std::move(centres)), {s_.subnets(), s_.features()})},
              {{"reciprocal", int64_t{true}}}, "scores");
    Protocol nearest;
    nearest.softmax = SoftmaxPlace::none;
    return route(scores, nearest, "router");
  }

  ValueId subnet(ValueId patch, int32_t number) {
    const std::string name = "subnets." + std::to_string(number);
    const int64_t channels = s_.subnet_channels[number];
    const ValueId head = conv(patch, name + ".head", channels);
    ValueId x = head;
    for (int64_t i = 0; i < s_.subnet_blocks[number]; ++i) {
      const std::string block = name + ".body." + std::to_string(i);
      x = add(x, conv(relu(conv(x, block + ".first", channels), block + ".first"), block + ".second", channels), block);
    }
    x = add(head, conv(x, name + ".end", channels), name + ".body");
    for (int64_t i = 0; i < s_.doublings(); ++i) {
      const std::string up = name + ".up." + std::to_string(i);
      x = value("pixel_shuffle", {conv(x, up, 4 * channels)}, {{"factor", int64_t{2}}}, up + ".large");
    }
    return conv(x, name + ".tail", s_.channels);
  }

  const Settings& s_;
};

class Livesr final : public Architecture {
 public:
  Livesr(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.picture = s_.picture;
    model.sizes = PictureSizes{s_.patch, kMostSide};
    model.answer = {Task::super_resolution, "picture", 0};
  }
  Graph forward(WeightCatalog& weights, PictureSize picture) const override {
    return LivesrBuilder(s_, weights).forward(picture);
  }

  /// Second moments are kept from layer to layer: pixels are as uniform ones from 0 to 1 are. A block without norm adds
  /// to what came, and so does one of the classifier: `second` is drawn so small that all blocks together less than
  /// triple the moment.
  Initialisation initialisation(std::string_view name) const override {
    if (const auto neutral = neutral_initialisation(name)) return *neutral;
    if (name.starts_with("clusters.")) return {kFeature, kFeature};
    if (name.starts_with("classifier.")) return of_classifier(name);
    return of_subnet(name);
  }

 private:
  static constexpr double kFeature = 0.5;  ///< typical size of the classifier's features
  static constexpr int64_t kField = 9;

  Initialisation of_classifier(std::string_view name) const {
    if (name.starts_with("classifier.stem.")) return kaiming(s_.channels * (s_.pooled_stem ? 49 : kField));
    const size_t stage = number_at(name, 2);
    const int64_t channels = s_.classifier_channels[stage];
    const bool first_of_stage = stage > 0 && number_at(name, 3) == 0;
    const int64_t came = first_of_stage ? s_.classifier_channels[stage - 1] : channels;
    if (name.ends_with(".shortcut.weight")) return kaiming(came, 1);
    if (name.ends_with(".first.weight")) return kaiming(came * kField);
    return kaiming(channels * kField, 1.0 / 2);
  }
  Initialisation of_subnet(std::string_view name) const {
    const size_t number = number_at(name, 1);
    const int64_t channels = s_.subnet_channels[number], blocks = s_.subnet_blocks[number];
    if (name.ends_with(".head.weight")) return kaiming(s_.channels * kField, 1);
    if (name.ends_with(".first.weight")) return kaiming(channels * kField);
    if (name.ends_with(".second.weight")) return kaiming(channels * kField, 1 / static_cast<double>(blocks));
    return kaiming(channels * kField, 1);
  }

  Settings s_;
};

}  // namespace
}  // namespace livesr_family

std::span<const ConfigKey> keys_of_livesr() { return livesr_family::kKeys; }

std::unique_ptr<const Architecture> configure_livesr(const Config& config, const Config&, const WeightCatalog*) {
  return std::make_unique<livesr_family::Livesr>(livesr_family::read_settings(config));
}

}  // namespace stormcell
