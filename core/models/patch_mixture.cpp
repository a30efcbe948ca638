// Pictures cut into overlapping patches; a small convolutional network sends each patch to one of several networks of
// unlike width and depth, and the patches are joined to one picture again, as large as the one that came or larger: the
// form of ClassSR and its kin.
//
//   patches = unfold(pixels)                                     patch_size x patch_size, patch_stride apart
//   scores  = head(mean(relu(router.conv(patches))))             one score a branch; the largest wins
//   y_b     = first; blocks of (conv, act, conv) + y; last       3 x 3 convolutions, to num_channels * upscale^2
//                                                                channels
//   picture = fold(pixel_shuffle(y)) + resize(pixels)            overlapping patches: their mean
//
// Keys, tensors and shapes: docs/models.md. No published model has this configuration.
#include <array>
#include <cmath>

#include "core/graph/patch_grid.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace patch_mixture_family {
namespace {

constexpr int64_t kMostPatch = 256, kMostChannels = 1024, kMostSubnets = 64, kKernel = 3;

constexpr std::array kKeys = keys_read("image_size", "num_channels", "patch_size", "patch_stride", "upscale",
                                       "router_channels", "branch_channels", "branch_blocks", "hidden_act");

struct Settings {
  PictureSize picture;
  int64_t channels, patch, stride, upscale, router_channels;
  std::vector<int64_t> branch_channels, branch_blocks;
  std::string activation;

  int64_t branches() const { return std::ssize(branch_channels); }
  int64_t result_channels() const { return channels * upscale * upscale; }
  PictureSizes sizes() const { return {patch, kMostSide}; }
};

Settings read_settings(const Config& config) {
  Settings s;
  s.channels = config.integer("num_channels", 3, 1, 64);
  s.patch = config.integer("patch_size", 32, 1, kMostPatch);
  s.stride = config.integer("patch_stride", s.patch, 1, s.patch);
  s.upscale = config.integer("upscale", 1, 1, 8);
  s.router_channels = config.integer("router_channels", 8, 1, kMostChannels);
  s.activation = activation_word(config, "hidden_act", "relu");
  s.branch_channels = config.integers("branch_channels", 1, kMostChannels);
  s.branch_blocks = config.integers("branch_blocks", 0, 256);
  if (s.branch_channels.empty() || s.branches() > kMostSubnets)
    config.refuse("branch_channels", "a list of 1 to " + std::to_string(kMostSubnets) + " widths, one a branch");
  if (s.branch_blocks.empty()) s.branch_blocks.assign(s.branch_channels.size(), 1);
  if (s.branch_blocks.size() != s.branch_channels.size())
    config.refuse("branch_blocks", "as many numbers as branch_channels has: " + std::to_string(s.branches()));
  s.picture = read_picture(config, s.patch, {4 * s.patch, 4 * s.patch});
  return s;
}

class PatchMixtureBuilder : public LayerBuilder {
 public:
  PatchMixtureBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {}

  Graph forward(PictureSize size) {
    const PatchGrid grid{size.height, size.width, s_.patch, s_.patch, s_.stride};
    const SpaceId pictures = root_space("picture", symbol(kSequences)),
                  patches = dense_space("patch", pictures, grid.patches());
    const ValueId pixels =
        input("pixels", DType::f32, pictures, {size.height, size.width, s_.channels}, InputRole::pixels);
    const ValueId cut = value(
        "unfold", {pixels},
        {{"space", int64_t{patches}}, {"height", s_.patch}, {"width", s_.patch}, {"stride", s_.stride}}, "patches");
    const ValueId joined = mixture(cut, decided(cut), Joined::in_place, "joined",
                                   [&](ValueId patch, int32_t b) { return branch(patch, b); });
    output("picture", add(folded(joined, size), enlarged(pixels, size), "picture"));
    return finish();
  }

 private:
  ValueId conv(ValueId x, const std::string& prefix, int64_t outputs, int64_t stride = 1) {
    return convolution(x, prefix, {outputs, kKernel, stride});
  }

  ValueId decided(ValueId patches) {
    const ValueId seen = activation(conv(patches, "router.conv", s_.router_channels, 2), "relu", "router.act");
    const ValueId mean = global_average(seen, "router.mean");
    return route(linear(mean, "router.head", s_.branches(), {}, true), {}, "router");
  }

  ValueId branch(ValueId x, int32_t number) {
    const std::string name = "branches." + std::to_string(number);
    const int64_t channels = s_.branch_channels[number];
    x = activation(conv(x, name + ".first", channels), s_.activation, name + ".first.act");
    for (int64_t i = 0; i < s_.branch_blocks[number]; ++i) {
      const std::string block = name + ".blocks." + std::to_string(i);
      const ValueId inner = activation(conv(x, block + ".in", channels), s_.activation, block + ".act");
      x = add(x, conv(inner, block + ".out", channels), block);
    }
    return conv(x, name + ".last", s_.result_channels());
  }

  ValueId folded(ValueId joined, PictureSize size) {
    if (s_.upscale > 1) joined = value("pixel_shuffle", {joined}, {{"factor", s_.upscale}}, "joined.large");
    return value(
        "fold", {joined},
        {{"height", size.height * s_.upscale}, {"width", size.width * s_.upscale}, {"stride", s_.stride * s_.upscale}},
        "folded");
  }

  ValueId enlarged(ValueId pixels, PictureSize size) {
    if (s_.upscale == 1) return pixels;
    return value(
        "resize", {pixels},
        {{"height", size.height * s_.upscale}, {"width", size.width * s_.upscale}, {"mode", std::string("bilinear")}},
        "pixels.large");
  }

  const Settings& s_;
};

class PatchMixture final : public Architecture {
 public:
  explicit PatchMixture(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.picture = s_.picture;
    model.sizes = s_.sizes();
  }
  Graph forward(WeightCatalog& weights, PictureSize picture) const override {
    return PatchMixtureBuilder(s_, weights).forward(picture);
  }

  /// Variances are kept through the layers. The router's features are those of patches brighter than grey: drawn around
  /// 0 they would be nearly the same for all patches, and one branch would get them all.
  Initialisation initialisation(std::string_view name) const override {
    constexpr double kBrightness = 0.15;
    if (name == "router.conv.weight") return {kBrightness, 0.4 * kBrightness};
    if (name == "router.conv.bias")
      return {-0.5 * kBrightness * static_cast<double>(s_.channels * kKernel * kKernel), 0};
    if (name == "router.head.bias") return {0, 0.3};
    if (name.ends_with(".bias")) return {0, 0};
    if (name == "router.head.weight") return {0, 4 / std::sqrt(static_cast<double>(s_.router_channels))};
    int64_t inputs = s_.channels;
    if (name.starts_with("branches.") && !name.ends_with(".first.weight"))
      inputs = s_.branch_channels[number_at(name, 1)];
    return kaiming(inputs * kKernel * kKernel);
  }

 private:
  Settings s_;
};

}  // namespace
}  // namespace patch_mixture_family

std::span<const ConfigKey> keys_of_patch_mixture() { return patch_mixture_family::kKeys; }

std::unique_ptr<const Architecture> configure_patch_mixture(const Config& config, const Config&, const WeightCatalog*) {
  return std::make_unique<patch_mixture_family::PatchMixture>(patch_mixture_family::read_settings(config));
}

}  // namespace stormcell
