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

/// Thresholds of exits are compared with confidences, which are from 0 to 1: these two are the ends of their range.
inline constexpr double kAllLeave = 0, kNoneLeaves = 2;

/// The threshold in that range by which the same cells leave: a model's own may be anything, such as -1 or 1000.
inline double as_exit_threshold(double threshold) { return std::clamp(threshold, kAllLeave, kNoneLeaves); }

}  // namespace stormcell
