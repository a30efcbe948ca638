// Seeded weights of presets: drawn tensor by tensor when they are asked for. None is held in memory.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/weight_catalog.h"
#include "core/weights/recipe_weights.h"

namespace stormcell {

/// Mean and standard deviation of a weight's elements.
struct Initialisation {
  double mean = 0, deviation = 0;
};
/// Weights of a layer that sums `inputs` numbers (He et al., ICCV 2015): second moments are kept, with a gain of 2
/// through a ReLU.
Initialisation kaiming(int64_t inputs, double gain = 2);
/// Neutral values, independent of what is learnt: 0 for biases and means, 1 for batch norms, and pixels standardized as
/// uniform ones from 0 to 1. Empty: the weight is none of these.
std::optional<Initialisation> neutral_initialisation(std::string_view weight);
/// The number behind the point-th point of a weight's name: for "cells.3.1.cell" 3 behind the first, 1 behind the
/// second. There must be one.
int64_t number_at(std::string_view weight, int point);

/// Elements depend on seed, name and index alone, so that a tensor is the same whatever is drawn before it, in whatever
/// order.
class SeededWeights final : public WeightSource {
 public:
  explicit SeededWeights(uint64_t seed) : seed_(seed) {}
  /// `stated`: its elements, in place of drawn ones.
  void add(WeightInfo info, Initialisation initialisation, std::vector<float> stated = {}) {
    std::string name = info.name;
    drawn_.insert_or_assign(std::move(name), Drawn{std::move(info), initialisation, std::move(stated)});
  }
  const WeightInfo* find(std::string_view name) const override;
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override;
  int64_t stored_bytes(std::string_view) const override { return 0; }
  /// Draws only these elements: an expert of a stack costs no more than a single one.
  std::shared_ptr<const std::byte> range(std::string_view name, int64_t first, int64_t count) const override;

 private:
  struct Drawn {
    WeightInfo info;
    Initialisation initialisation;
    std::vector<float> stated;
  };
  const Drawn& drawn(std::string_view name) const;
  std::shared_ptr<const std::byte> draw_elements(const Drawn& from, int64_t first, int64_t count) const;

  uint64_t seed_;
  std::map<std::string, Drawn, std::less<>> drawn_;
};

/// Elements by the name of their weight.
using StatedWeights = std::map<std::string, std::vector<float>, std::less<>>;

/// Promises every weight that a family asks for.
class SeededCatalog final : public WeightCatalog {
 public:
  /// `stated`: weights that are not drawn.
  SeededCatalog(uint64_t seed, DType dtype, std::function<Initialisation(std::string_view name)> initialisation,
                StatedWeights stated = {})
      : weights_(std::make_shared<SeededWeights>(seed)),
        source_(make_recipe_weights(weights_)),
        dtype_(dtype),
        initialisation_(std::move(initialisation)),
        stated_(std::move(stated)) {}
  bool has(std::string_view name) const override { return weights_->find(name) != nullptr; }
  bool has_prefix(std::string_view) const override { return true; }
  const WeightInfo& need(const std::string& name, const std::vector<int64_t>& shape) override;
  std::shared_ptr<const WeightSource> source() const override { return source_; }

 private:
  std::shared_ptr<SeededWeights> weights_;
  std::shared_ptr<const WeightSource> source_;
  DType dtype_;
  std::function<Initialisation(std::string_view)> initialisation_;
  StatedWeights stated_;
};

}  // namespace stormcell
