// Several measurings of one thing, each in a process of its own, as one figure.
//
// A process has its own places in memory, its own share of the caches and its own neighbours, and no interval from within it sees how much
// these matter. So the figure is the mean over processes, and its interval comes from how much the processes differ: Student's t on the
// logarithms of their values. The intervals from within are a floor: processes that agree by chance make nothing surer than that.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace stormcell {

/// Fewer say too little about how much processes differ: of two, Student's t is 12.7.
inline constexpr size_t kLeastMeasurings = 3;

/// What one process found.
struct Measuring {
  double value = 1;                  ///< more than 0
  std::array<double, 2> ci95{1, 1};  ///< from within the process; both equal to the value: nothing is known
};

struct Pooled {
  double value = 1;                  ///< geometric mean
  std::array<double, 2> ci95{1, 1};  ///< of another run of the same command, too
  double spread = 0;                 ///< standard deviation of the logarithms between processes
  int64_t measurings = 0;
};
/// Nothing where there are fewer than kLeastMeasurings, or a value is not above 0.
std::optional<Pooled> pooled(const std::vector<Measuring>& measurings);

/// Widens the interval of a figure that only one process measured, as if the processes differed in it as much as they differ in `as`.
std::array<double, 2> widened(const Measuring& alone, const Pooled& as);

}  // namespace stormcell
