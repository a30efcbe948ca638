// The convolutions of a multi-scale network with exits: names, channels and strides, from its configuration alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell::msdnet {

struct Settings {
  int64_t channels = 3, labels = 1000, initial = 32, growth = 16;
  std::vector<int64_t> factors;  ///< of each scale, finest first: channels are multiples of it
  /// of each scale: a 1 x 1 convolution leaves at most so many times the channels that follow
  std::vector<int64_t> bottlenecks;
  std::vector<int64_t> block_layers;  ///< layers before each exit
  bool bottleneck = true, pruned = true, pooled_stem = true;
  double reduction = 0.5;          ///< of channels, where a scale is dropped
  int64_t classifier = 0;          ///< channels of an exit's convolutions; 0: as many as come
  std::vector<double> thresholds;  ///< of each exit but the last
  double eps = 1e-5;

  int64_t scales() const { return std::ssize(factors); }
  int64_t blocks() const { return std::ssize(block_layers); }
  int64_t layers() const;
};

/// A convolution with its batch norm and ReLU; `size` x `size`, padded to keep the extent that its stride leaves.
struct Convolution {
  std::string name;
  int64_t in = 0, out = 0, size = 3, stride = 1;
  bool bias = false;
};
/// A convolution to `out` channels, through fewer ones if there is a bottleneck.
struct Unit {
  std::optional<Convolution> reduce;
  Convolution convolution;
};
/// One scale of a layer: x, joined with features from the next finer scale and with features from x.
struct ScaleStep {
  std::string name;
  std::optional<Unit> down;
  Unit normal;
};
struct Layer {
  int64_t finest_in = 0,
          finest_out = 0;  ///< the finest scale that it takes, that it gives; where one is dropped they differ
  std::vector<ScaleStep> steps;
  std::vector<Convolution> transition;  ///< of each scale that it gives; empty: none
};
/// The layers before an exit, and the exit.
struct Block {
  std::vector<Layer> layers;
  std::vector<Convolution> classifier;
  int64_t features = 0;
};
struct Plan {
  std::vector<Convolution> stem;  ///< of each scale
  std::vector<Block> blocks;

  /// Calls f(convolution) for each.
  template <class F>
  void visit(F f) const {
    const auto unit = [&](const Unit& u) {
      if (u.reduce) f(*u.reduce);
      f(u.convolution);
    };
    for (const Convolution& c : stem) f(c);
    for (const Block& block : blocks) {
      for (const Layer& layer : block.layers) {
        for (const ScaleStep& step : layer.steps) {
          if (step.down) unit(*step.down);
          unit(step.normal);
        }
        for (const Convolution& c : layer.transition) f(c);
      }
      for (const Convolution& c : block.classifier) f(c);
    }
  }
};
/// The last layer gives its coarsest scale alone: nothing reads the others.
Plan plan(const Settings& settings);

}  // namespace stormcell::msdnet
