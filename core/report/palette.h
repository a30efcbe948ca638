// Numbers of the page's colours; style.cpp defines them.
#pragma once
#include <algorithm>
#include <cstdint>

namespace stormcell::report {

/// A scale from the paper's colour to one far from it: classes q0, q1, ..., texts on them on0, on1, ...
inline constexpr int32_t kScaleSteps = 9;
/// The step of a value on a scale from 0 to `high`.
inline int32_t step_of(double value, double high) {
  return std::min(kScaleSteps - 1, static_cast<int32_t>(value / high * kScaleSteps));
}

/// Colours of branches and exits, repeated if there are more: classes c0, c1, ...
inline constexpr int32_t kBranchColours = 8;
inline int32_t colour_of(int32_t branch) { return branch % kBranchColours; }

}  // namespace stormcell::report
