// Searches for the thresholds, one for each exit, that give the most for their cost. It uses the scores of one recorded
// run and runs nothing.
#pragma once
#include <cstdint>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

/// Items that went through the whole network, with their answers at every exit.
struct ExitCase {
  /// [exit tests][items] the confidence that the test compares with its threshold; NaN never leaves.
  std::vector<std::vector<float>> confidence;
  /// [exits, one more than tests][items] ItemScore's part of the answer at the exit; more is better.
  std::vector<std::vector<double>> part;
  /// [exits][items] cost of answering at the exit, in any unit.
  std::vector<std::vector<double>> cost;
};

/// The aim for the means over all items.
struct ExitAim {
  enum class Of : uint8_t {
    part,  ///< the lowest cost at which the mean part is at least `value`
    cost   ///< the highest part at which the mean cost is at most `value`
  };
  Of of = Of::part;
  double value = 0;
};

struct FoundExits {
  std::vector<double> thresholds;  ///< by test; kAllLeave, kNoneLeaves, or between two confidences of the case
  double part = 0, cost = 0;       ///< means
  bool met = false;                ///< false: nothing meets the aim; this comes closest
  /// True: all ways were tried, so no thresholds are better. False: others may be.
  bool is_optimum = false;
};

/// Finds thresholds for the aim. With one test, or two and fewer than 1,024 items, it tries every way in which
/// thresholds can divide the items: the optimum. With two tests and more items, it tries 1,024 evenly chosen cuts of
/// the earlier test, and all of the later one for each. With more tests, it is a coordinate search over pairs of tests:
/// 96 cuts of the earlier one, the others held, from several starts, until nothing improves. The items that come to a
/// threshold depend on those before it, so no search exit by exit is exact. The result is never worse than `start`,
/// than no exits, and than one threshold in hundredths for all. `start`: by test, converted by as_exit_threshold(); a
/// threshold of it stays if another one would gain nothing.
FoundExits find_exits(const ExitCase& of, const ExitAim& aim, const std::vector<double>& start,
                      const CancellationToken& cancel);

/// The number with the fewest digits, from two on, that separates as f32 is compared: confidences of `low` stay, of
/// `high` leave.
double threshold_between(float low, float high);

/// The test of each item's exit: the first that its confidence reaches, else the last exit.
std::vector<int32_t> exits_taken(const std::vector<std::vector<float>>& confidence,
                                 const std::vector<double>& thresholds);

}  // namespace stormcell
