// The time of an optimisation: what it is expected to take, and how a limit is shared among its stages. Pure: the clock is given.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stormcell {

/// In the order in which they run.
enum class Stage : uint8_t { thresholds, profile, passes, measure, verify, again, figures, exits, record };
inline constexpr size_t kStages = 9;

/// Seconds from a command's begin, and what of a limit is left.
class TimePlan {
 public:
  using Clock = std::function<double()>;
  /// `limit` seconds from `begun` on, which is a time of the clock; 0: no limit.
  TimePlan(double limit, double begun, Clock clock);
  bool limited() const { return limit_ > 0; }
  double limit() const { return limit_; }
  double spent() const { return clock_() - begun_; }
  /// Infinity without a limit; 0 where it is spent.
  double left() const;
  /// Seconds that a stage may take. The time left is divided by weight among this stage and the later ones, so that they also share what
  /// earlier stages did not need. Infinity without a limit.
  double allowed(Stage stage) const;
  /// A stage that does not run leaves its share to the others.
  void skip(Stage stage) { weight_[static_cast<size_t>(stage)] = 0; }
  /// The part of what is left that the first of `phases` may take, as a plan of its own.
  TimePlan part(size_t phases) const;

 private:
  double limit_, begun_;
  Clock clock_;
  std::array<double, kStages> weight_;
};

/// What is known of an optimisation before its first stage. Times in seconds.
struct ExpectedWork {
  double opened = 0;               ///< spent already
  double batch = 0;                ///< one execution of the baseline
  double compile = 0;              ///< one plan
  int64_t batches = 1;             ///< of the data
  size_t passes = 0;               ///< that may apply; each is a plan upon the others, and one alone where that is asked for
  bool alone = true;               ///< each pass is measured on its own, too
  bool ordered = false;            ///< under a budget batches are measured in stretches of the data's order
  bool exits = false;              ///< every batch runs once more, through the whole network
  bool target = false;             ///< thresholds are searched on another such run, and judged
  bool session = false;            ///< the optimised run is recorded
  double measure = 0, verify = 0;  ///< as they were asked for
};
struct ExpectedSeconds {
  double low = 0, high = 0;
  double middle() const { return (low + high) / 2; }
};
/// Of the whole command, what was spent included. `low`: no pass applies, `high`: all do, and some are left out again.
ExpectedSeconds expected_seconds(const ExpectedWork& work);
/// Executions of one round of measuring `plans` beside the baseline.
double executions_of_round(size_t plans, bool ordered);

/// Above this passes are tried on fewer batches.
inline constexpr double kLongSeconds = 120;

/// Which plans are measured, and how.
enum class Trying : uint8_t {
  all,       ///< every plan as long as the last one
  briefly,   ///< passes upon each other in few rounds, then all of them together
  together,  ///< all passes together and nothing else
};
/// Rounds of plans that are tried briefly: as many pairs as an interval needs.
inline constexpr int64_t kBriefRounds = 4;

/// The input of way_of_trying(): the number of plans, the time of one execution, and the time that is left.
struct TryChoice {
  size_t plans = 0;      ///< passes that applied, upon each other
  size_t alone = 0;      ///< plans more where each is measured on its own
  double execution = 0;  ///< seconds of one
  bool ordered = false;
  bool is_long = false;  ///< the whole command is expected to take longer than kLongSeconds
  double allowed = 0;    ///< seconds for measuring; infinity: no limit
  int64_t rounds = 0;    ///< at least, of what is stated
};
Trying way_of_trying(const TryChoice& choice);

/// The batches that run under a limit: at most `most` of `profiled` and `measured` together (both ascending), divided between the two in
/// proportion, and at least one of each. They are spread evenly over the data and include the first.
struct FittingBatches {
  std::vector<int64_t> profiled, measured;
  /// Both, ascending.
  std::vector<int64_t> all() const;
};
FittingBatches batches_that_fit(const std::vector<int64_t>& profiled, const std::vector<int64_t>& measured, int64_t most);

}  // namespace stormcell
