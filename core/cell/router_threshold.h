// A threshold that stands in the place of a model's own.
#pragma once
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

}  // namespace stormcell
