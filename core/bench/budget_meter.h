// Measures the work of a budget for weights while a verb runs.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/runtime/weight_store.h"
#include "core/summary/results.h"

namespace stormcell {

/// Reads of timed executions, all together.
struct TimedReads {
  int64_t executions = 0, reads = 0, bytes_read = 0, bytes_filled = 0;
  double stall_seconds = 0, milliseconds = 0;
  TimedReads& operator+=(const TimedReads& other);
  /// Empty if none was timed under a budget.
  std::optional<WeightsRead> mean() const;
};

class BudgetMeter {
 public:
  /// A meter for a store without a budget, which has nothing to report.
  BudgetMeter() = default;
  /// The store must outlive it.
  explicit BudgetMeter(const WeightStore& store);
  /// Call it after each execution.
  void add_execution();
  /// The execution on a batch that runs from here to end() is timed: it is counted apart, too.
  class Timed {
   public:
    Timed(BudgetMeter& meter, int64_t batch);
    /// The reads of this execution, which took `milliseconds`. Zero executions without a budget.
    TimedReads end(double milliseconds) const;

   private:
    BudgetMeter& meter_;
    WeightCounters before_;
  };
  /// Batches to run before timing, until the slots hold only what this plan loaded. Estimated from the fills so far. 1
  /// without a budget, or if nothing gave way.
  int64_t settling_batches() const;
  /// Bytes of slots that were filled since the store was made; 0 without a budget.
  int64_t filled() const { return store_ ? store_->counters().bytes_filled : 0; }
  /// Ends the readings of held memory: the verification that follows is not counted. `peak`: the most resident bytes of
  /// the process so far.
  void end_readings(int64_t peak) { peak_ = peak, ended_ = true; }
  /// Begins anew, for the process's peak, too.
  void restart();
  /// Since the meter was made or restarted, in a few words for the line of progress: "286 reads, 17.9 MiB, waited 0.2
  /// s". Empty without a budget.
  std::string so_far() const;
  /// Figures since the meter was made or restarted; `arena_bytes` as the figures have it. Nothing without a budget.
  std::optional<BudgetFigures> figures(int64_t arena_bytes) const;
  /// Facts that a reader of the figures has to know, a sentence each.
  std::vector<std::string> warnings() const;

 private:
  const WeightStore* store_ = nullptr;  // null: no budget
  WeightCounters before_;
  int64_t executions_ = 0, most_held_ = 0, peak_ = 0;
  bool of_group_ = false, ended_ = false;
  TimedReads timed_;
  std::set<int64_t> timed_batches_;
  int64_t untimed_ = 0, untimed_filled_ = 0;  // before anything was timed
};

}  // namespace stormcell
