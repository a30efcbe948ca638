// A threshold that stands in the place of a model's own.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace stormcell {

/// Of a router that decides by one threshold (Protocol::threshold), told by its name.
struct RouterThreshold {
  std::string router;
  double threshold = 0;
  bool operator==(const RouterThreshold&) const = default;
};
using RouterThresholds = std::vector<RouterThreshold>;

/// Thresholds of exits, as confidences: at the least every cell leaves, beyond 1 none does.
inline constexpr double kLeastExitThreshold = 0, kMostExitThreshold = 2;

/// The threshold in that range by which the same cells leave: a model's own may be anything, such as -1 or 1000.
inline double as_exit_threshold(double threshold) { return std::clamp(threshold, kLeastExitThreshold, kMostExitThreshold); }

}  // namespace stormcell
