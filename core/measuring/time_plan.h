// Plans the time of an optimisation: how long it is expected to take, and how a limit is shared among its stages. The
// clock is a parameter.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/enum_words.h"

namespace stormcell {

/// The stages in the order in which they run.
enum class Stage : uint8_t { thresholds, profile, passes, measure, verify, again, figures, exits, record };
inline constexpr size_t kStages = 9;

/// Seconds since a command began, and seconds that a limit leaves.
class TimePlan {
 public:
  using Clock = std::function<double()>;
  /// `limit` seconds from `begun` on, which is a time of the clock; 0: no limit.
  TimePlan(double limit, double begun, Clock clock);
  bool limited() const { return limit_ > 0; }
  double spent() const { return clock_() - begun_; }
  /// Infinity without a limit; 0 if it is spent.
  double remaining() const;
  /// Seconds that a stage may take. The time left is divided by weight among this stage and the later ones, so that
  /// they also share the time that earlier stages did not need. Infinity without a limit.
  double allowed(Stage stage) const;
  /// Gives the share of a stage that does not run to the others.
  void skip(Stage stage) { row_of(weight_, stage) = 0, row_of(least_, stage) = 0; }
  /// Keeps time for the work that is never left out: stages before it share only the rest. `batch`: seconds of one
  /// execution; `compile`: seconds to make one plan and load its weights; `sizes`: number of different sizes of
  /// pictures, each of which is verified.
  void reserve_least(double batch, double compile, double sizes, bool ordered);
  /// Seconds of that work, without the spent ones; 0: none was reserved.
  double least() const;
  /// The part of the limit that the work before the first stage can take without an overrun, in seconds.
  double share_of_opening() const { return std::max(0.0, limit_ - least()); }
  /// A plan for the first of `phases`, with its part of the time left.
  TimePlan part(size_t phases) const;

 private:
  double limit_, begun_;
  Clock clock_;
  std::array<double, kStages> weight_;
  std::array<double, kStages> least_{};
};

/// The work of an optimisation as known before its first stage. Times are in seconds.
struct ExpectedWork {
  double opened = 0;     ///< spent before: opening the model
  double batch = 0;      ///< time of one execution of the baseline
  double compile = 0;    ///< time to make one plan
  int64_t batches = 1;   ///< batches of the data
  size_t passes = 0;     ///< passes that may apply; each has a plan upon the others, and with `alone` one of its own
  bool alone = true;     ///< each pass is also measured on its own
  bool ordered = false;  ///< under a budget, batches are measured in stretches in the order of the data
  bool exits = false;    ///< every batch runs once more, through the whole network
  bool target = false;   ///< another such run searches thresholds, which are then judged
  bool session = false;  ///< the optimised run is recorded
  double measure = 0, verify = 0;  ///< seconds asked for
};
struct ExpectedSeconds {
  double low = 0, high = 0;
  double likely = 0;  ///< half of the passes apply, and none is left out again
  double middle() const { return (low + high) / 2; }
};
/// The time of the whole command, including the time already spent. `low`: no pass applies; `high`: all apply and some
/// are left out again. The range is wide; `likely` is the value to plan by.
ExpectedSeconds expected_seconds(const ExpectedWork& work);
/// The number of executions in one round that measures `plans` beside the baseline.
double executions_of_round(size_t plans, bool ordered);

/// If the command is expected to take longer, passes are tried on fewer batches.
inline constexpr double kLongSeconds = 120;

/// The choice of plans that are measured, and how long.
enum class Trying : uint8_t {
  all,       ///< every plan is measured as long as the last one
  briefly,   ///< few rounds for passes upon each other, then a full measuring of all together
  together,  ///< only all passes together
};
/// The rounds of plans that are tried briefly: they give as many pairs as an interval needs.
inline constexpr int64_t kBriefRounds = 4;

/// The input of way_of_trying(): the number of plans, the time of one execution, and the time that is left.
struct TryChoice {
  size_t plans = 0;      ///< plans of passes upon each other, one for each that applied
  size_t alone = 0;      ///< further plans, if each pass is measured on its own
  double execution = 0;  ///< seconds of one execution
  bool ordered = false;
  bool is_long = false;  ///< the whole command is expected to take longer than kLongSeconds
  double allowed = 0;    ///< seconds for measuring; infinity: no limit
  int64_t rounds = 0;    ///< least number of rounds for the stated figures
  double prepare = 0;    ///< seconds that a plan takes before it is timed: it is made, checked and warmed up
};
Trying way_of_trying(const TryChoice& choice);

/// The batches that run under a limit: at most `most` of `profiled` and `measured` together (both ascending), divided
/// between the two in proportion, and at least one of each. They are spread evenly over the data and include the first.
struct FittingBatches {
  std::vector<int64_t> profiled, measured;
  /// Batches of both, ascending.
  std::vector<int64_t> all() const;
};
FittingBatches batches_that_fit(const std::vector<int64_t>& profiled, const std::vector<int64_t>& measured,
                                int64_t most);

}  // namespace stormcell
