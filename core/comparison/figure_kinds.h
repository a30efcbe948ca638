// One table describes each figure that compare shows: the better direction, how it was measured, and which speed-up
// withholds it.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

// `figure` is a dotted path, as in compare.

enum class Better : uint8_t { less, more, neither };
Better better_of(std::string_view figure);

/// True for figures that a clock measured, and for counts of a process's pages. Without an interval, no difference
/// between them can be judged.
bool is_measured(std::string_view figure);
/// True for a figure of the work that a phase does. It has no difference from one of another phase.
bool is_of_phase(std::string_view figure);
/// True for a time, a rate or a ratio of times. They must not be compared if machines, data or terms differ.
bool is_of_time(std::string_view figure);
/// True for a sum over all executions of a verb. Two runs have unlike numbers of them, so it never has a difference.
bool is_sum_of_executions(std::string_view figure);

/// The unit of a figure whose name does not include it: "ms" of a placement's objective. Empty: the name includes it,
/// or the figure is a count or a share.
std::string_view unit_of(std::string_view figure);

/// The ending of the key of a figure's interval.
inline constexpr const char* kIntervalKey = "_ci95";

/// The key, in the same object, of the reason why a figure or its interval is not stated: "speedup_withheld". `key` is
/// the last one of the path. Empty: the figure is never withheld.
std::string_view withheld_by(std::string_view key);

}  // namespace stormcell
