// The grid of DynamicRouting: its nodes and the ways between them, extents of the levels, distributions of seeded
// weights.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/picture_size.h"
#include "core/models/seeded_weights.h"

namespace stormcell::dynamic_routing {

/// Ways out of a node, in the order of its router's branches.
enum class Way : uint8_t { keep, up, down };
std::string_view to_text(Way way);
/// Levels that it leads on: up is to finer maps.
inline int64_t step_of(Way way) { return way == Way::keep ? 0 : way == Way::up ? -1 : 1; }

/// A place in the grid. Layer 0 is the node that the stem's map comes to.
struct Place {
  int64_t layer = 0, level = 0;
};
/// "cells.3.1": prefix of the node's tensors and graph nodes.
std::string name_of(const Place& at);

struct Settings {
  int64_t channels = 3, labels = 19, stem = 64;
  int64_t levels = 4, layers = 16;  ///< layers besides layer 0
  bool small_gate = true, skips_unreached = true;
  double threshold = 1e-4, eps = 1e-5;

  /// Channels of a level.
  int64_t width(int64_t level) const { return stem << level; }
  /// Levels of a layer: one more each, until all are there.
  int64_t nodes(int64_t layer) const { return layer + 1 < levels ? layer + 1 : levels; }
  /// The ways that lead to a node of the next layer; after the last layer, maps are kept for the head.
  std::vector<Way> ways(const Place& at) const;
};

/// Extents of each level: `finest` for the first, then halves, rounded up.
std::vector<PictureSize> level_sizes(const Settings& s, PictureSize finest);
/// The extents of maps as a small gate sees them: a quarter of each side, at least a pixel.
PictureSize gate_size(const Settings& s, PictureSize maps);

Initialisation initialisation(const Settings& s, std::string_view weight);

}  // namespace stormcell::dynamic_routing
