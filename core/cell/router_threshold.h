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

/// Of exits, which compare confidences with them. kAllLeave: confidences are 0 or more, so all leave (below it too).
/// kNoneLeaves: they are 1 at most, so none does.
inline constexpr double kAllLeave = 0, kNoneLeaves = 2;

/// What a model and a configuration may give: -1 says the same as kAllLeave, and presets have it.
inline constexpr double kLeastExitThreshold = -1, kMostExitThreshold = kNoneLeaves;
constexpr bool is_exit_threshold(double threshold) {
  return threshold >= kLeastExitThreshold && threshold <= kMostExitThreshold;
}
inline constexpr const char* kExitThresholdRange = "from -1 to 2 (at 0 and below all leave, above 1 none does)";

/// The threshold from kAllLeave to kNoneLeaves by which the same cells leave.
inline double as_exit_threshold(double threshold) { return std::clamp(threshold, kAllLeave, kNoneLeaves); }

}  // namespace stormcell
