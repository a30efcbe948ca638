// A threshold that replaces a model's own.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace stormcell {

/// Threshold of a router that decides by one (Protocol::threshold), with the router's name.
struct RouterThreshold {
  std::string router;
  double threshold = 0;
  bool operator==(const RouterThreshold&) const = default;
};
using RouterThresholds = std::vector<RouterThreshold>;

/// Exit thresholds at which all or none leave. Confidences are at least 0, so all leave at kAllLeave and below it. They
/// are at most 1, so none leaves at kNoneLeaves.
inline constexpr double kAllLeave = 0, kNoneLeaves = 2;

/// Range that models and configurations may use: -1 means the same as kAllLeave and occurs in presets.
inline constexpr double kLeastExitThreshold = -1, kMostExitThreshold = kNoneLeaves;
constexpr bool is_exit_threshold(double threshold) {
  return threshold >= kLeastExitThreshold && threshold <= kMostExitThreshold;
}
inline constexpr const char* kExitThresholdRange = "from -1 to 2 (at 0 and below all leave, above 1 none does)";

/// The threshold from kAllLeave to kNoneLeaves by which the same cells leave.
inline double as_exit_threshold(double threshold) { return std::clamp(threshold, kAllLeave, kNoneLeaves); }

}  // namespace stormcell
