// Combines several measurements of one thing, each in its own process, into one figure.
//
// A process has its own places in memory, its own share of the caches and its own neighbours. No interval from within
// one process shows how much these matter. So the figure is the mean over processes, and its interval comes from the
// differences between the logarithms of their values, of which kInCommon does not become smaller by more processes. It
// is never narrower than the intervals from within: processes may agree by chance.
//
// Below kRobust processes, that is the geometric mean and Student's t. From kRobust on, one process that was disturbed,
// such as one whose threads shared a core, must not decide: the figure is the trimmed mean, without a fifth of the
// values at each end, and its interval that of Tukey and McLaughlin (Yuen, "The two-sample trimmed t for unequal
// population variances", Biometrika 61, 1974).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace stormcell {

/// Fewer say too little about how much processes differ: for two, Student's t is 12.7.
inline constexpr size_t kLeastMeasurementRuns = 3;
/// With fewer processes, the values left by trimming say too little about the spread.
inline constexpr size_t kRobust = 7;
/// The part of the variance between processes that all processes of one run have in common, because they run within
/// seconds of each other and the machine's neighbours stay for minutes. 36 runs of nine processes on a virtual machine
/// gave 0.084 (intraclass correlation; docs/decisions/058).
inline constexpr double kInCommon = 0.1;

/// The result of one process.
struct Measurement {
  double value = 1;                  ///< more than 0
  std::array<double, 2> ci95{1, 1};  ///< interval from within the process; both ends equal to the value: not known
};

struct Pooled {
  double value = 1;
  std::array<double, 2> ci95{1, 1};  ///< holds the mean of another run of the same command, too
  double spread = 0;                 ///< standard deviation of the logarithms between processes, of all of them
  int64_t measurements = 0;
};
/// Nothing if there are fewer than kLeastMeasurementRuns, or if a value is not above 0.
std::optional<Pooled> pooled(const std::vector<Measurement>& measurements);

/// Widens the interval of a figure that only one process measured, as if processes differed in it as much as in `as`.
std::array<double, 2> widened(const Measurement& alone, const Pooled& as);

}  // namespace stormcell
