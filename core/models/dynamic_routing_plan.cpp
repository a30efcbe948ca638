#include "core/models/dynamic_routing_plan.h"

#include <algorithm>

namespace stormcell::dynamic_routing {

std::string_view to_text(Way way) { return way == Way::keep ? "keep" : way == Way::up ? "up" : "down"; }

std::string name_of(const Place& at) { return "cells." + std::to_string(at.layer) + "." + std::to_string(at.level); }

std::vector<Way> Settings::ways(const Place& at) const {
  std::vector<Way> ways{Way::keep};
  if (at.layer == layers) return ways;
  if (at.level > 0) ways.push_back(Way::up);
  if (at.level + 1 < levels) ways.push_back(Way::down);
  return ways;
}

std::vector<PictureSize> level_sizes(const Settings& s, PictureSize finest) {
  std::vector<PictureSize> sizes{finest};
  for (int64_t level = 1; level < s.levels; ++level)
    sizes.push_back({(sizes.back().height + 1) / 2, (sizes.back().width + 1) / 2});
  return sizes;
}

PictureSize gate_size(const Settings& s, PictureSize maps) {
  if (!s.small_gate) return maps;
  return {std::max<int64_t>(1, maps.height / 4), std::max<int64_t>(1, maps.width / 4)};
}

/// Second moments are kept, with two exceptions: a cell adds a quarter of its input, and ways to other levels leave a
/// half, because several meet in a sum. Pixels are as uniform ones from 0 to 1. Thus maps neither fade nor overflow
/// along 16 layers.
Initialisation initialisation(const Settings& s, std::string_view name) {
  constexpr int64_t kField = 9;
  constexpr double kAdded = 0.25, kMoved = 1;
  if (const auto neutral = neutral_initialisation(name)) return *neutral;
  if (name.ends_with(".depthwise.weight")) return kaiming(kField, 1);
  if (name == "head.predictor.weight") return kaiming(s.stem * kField, 1);
  if (name.starts_with("head.")) return kaiming(s.width(number_at(name, 1)));
  if (name == "stem.0.weight") return kaiming(s.channels * kField);
  if (name.starts_with("stem.")) return kaiming(s.stem);
  const int64_t channels = s.width(number_at(name, 2));
  if (name.ends_with(".cell.1.pointwise.weight")) return kaiming(channels, kAdded);
  const bool of_gate = name.find(".gate.") != std::string_view::npos;
  if (of_gate && !name.ends_with(".convolution.weight")) return kaiming(channels / 2);
  if (name.ends_with(".up.weight") || name.ends_with(".down.weight")) return kaiming(channels, kMoved);
  return kaiming(channels);
}

}  // namespace stormcell::dynamic_routing
