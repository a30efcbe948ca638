#include "core/models/msdnet_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stormcell::msdnet {
namespace {

class Planner {
 public:
  explicit Planner(const Settings& settings) : s_(settings) {}

  Plan make() {
    Plan plan;
    for (int64_t scale = 0; scale < s_.scales(); ++scale) plan.stem.push_back(stem(scale));
    width_ = s_.initial;
    int64_t number = 0;
    for (int64_t b = 0; b < s_.blocks(); ++b) {
      Block block;
      for (int64_t i = 0; i < s_.block_layers[b]; ++i) block.layers.push_back(layer(++number));
      block.features = s_.classifier > 0 ? s_.classifier : width_ * s_.factors.back();
      const std::string name = "exits." + std::to_string(b) + ".convolutions.";
      block.classifier = {{name + "0", width_ * s_.factors.back(), block.features, 3, 2},
                          {name + "1", block.features, block.features, 3, 2}};
      plan.blocks.push_back(std::move(block));
    }
    return plan;
  }

 private:
  int64_t factor(int64_t scale) const { return s_.factors[scale]; }

  Convolution stem(int64_t scale) const {
    const std::string name = "stem." + std::to_string(scale);
    if (scale > 0) return {name, s_.initial * factor(scale - 1), s_.initial * factor(scale), 3, 2};
    return {name, s_.channels, s_.initial * factor(0), s_.pooled_stem ? 7 : 3, s_.pooled_stem ? 2 : 1, true};
  }

  /// The finest scale that layer `number`, counted from 1, gives: one scale fewer after each part of the layers.
  int64_t first_scale(int64_t number) const {
    if (!s_.pruned || number < 1) return 0;
    const int64_t interval = (s_.layers() + s_.scales() - 1) / s_.scales();
    return (number - 1) / interval;
  }

  Unit unit(const std::string& name, int64_t in, int64_t out, int64_t bottleneck, int64_t stride) const {
    Unit unit;
    if (s_.bottleneck) {
      const int64_t inner = std::min(in, bottleneck * out);
      unit.reduce = Convolution{name + ".reduce", in, inner, 1, 1};
      in = inner;
    }
    unit.convolution = {name + ".convolution", in, out, 3, stride};
    return unit;
  }

  ScaleStep step(const std::string& name, int64_t scale, bool from_finer) const {
    const auto bottleneck = [&](int64_t of) { return s_.bottlenecks[of]; };
    const int64_t out = s_.growth * factor(scale);
    if (!from_finer)
      return {name, std::nullopt, unit(name + ".normal", width_ * factor(scale), out, bottleneck(scale), 1)};
    return {name, unit(name + ".down", width_ * factor(scale - 1), out / 2, bottleneck(scale - 1), 2),
            unit(name + ".normal", width_ * factor(scale), out / 2, bottleneck(scale), 1)};
  }

  Layer layer(int64_t number) {
    Layer layer;
    layer.finest_in = first_scale(number - 1);
    const bool last = number == s_.layers();
    const int64_t finest = first_scale(number);
    layer.finest_out = last ? s_.scales() - 1 : finest;
    const std::string name = "layers." + std::to_string(number - 1) + ".";
    for (int64_t scale = layer.finest_out; scale < s_.scales(); ++scale)
      layer.steps.push_back(step(name + std::to_string(scale), scale, scale > finest || layer.finest_in < finest));
    width_ += s_.growth;
    if (layer.finest_in < finest && s_.reduction < 1) {
      const auto fewer = static_cast<int64_t>(std::floor(s_.reduction * static_cast<double>(width_)));
      for (int64_t scale = layer.finest_out; scale < s_.scales(); ++scale)
        layer.transition.push_back(
            {name + std::to_string(scale) + ".transition", width_ * factor(scale), fewer * factor(scale), 1, 1});
      width_ = fewer;
    }
    return layer;
  }

  const Settings& s_;
  int64_t width_ = 0;  ///< channels of a scale whose factor is 1
};

}  // namespace

int64_t Settings::layers() const { return std::accumulate(block_layers.begin(), block_layers.end(), int64_t{0}); }

Plan plan(const Settings& settings) { return Planner(settings).make(); }

}  // namespace stormcell::msdnet
