// A plan under judgement: runs it, and keeps the findings so far. The judge of its workload says how its executions are
// compared.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/verification/format_judge.h"
#include "core/verification/judge.h"
#include "core/verification/workload_judge.h"

namespace stormcell {

class JudgedTexts;

class JudgedPlan {
 public:
  virtual ~JudgedPlan() = default;
  JudgedPlan(const JudgedPlan&) = delete;
  JudgedPlan& operator=(const JudgedPlan&) = delete;

  /// Runs one batch, recorded, with its outputs; `replay`: with the decisions of another execution replayed, nullptr:
  /// freely.
  Observed run(const Batch& batch, const Observed* replay);

  /// Compares one batch with the oracle. `format`: if not null, it also receives the comparison, because this oracle
  /// holds the weights as they are stored.
  virtual void compare_with_oracle(const Batch& batch, const Observed& reference, FormatJudge* format) = 0;
  /// Compares one batch with an oracle that has the weights as they are stored, if they run in another format.
  virtual void compare_with_stored(const Batch& batch, const Observed& stored, FormatJudge& format) = 0;
  /// Compares some pictures of a batch with the oracle, which replayed the plan's decisions about them. `ours`: the
  /// plan's results for them, as it ran freely; `whole`: all its decisions about the batch.
  virtual void compare_part(const Batch& batch, const Observed& reference, const Observed& ours,
                            const std::vector<JudgedDecision>& whole);
  /// Compares one batch with the baseline, as the plan runs freely.
  virtual void compare_with_baseline(const Batch& batch, Observed reference) = 0;
  /// The texts that it wrote; null: it does not decode.
  virtual JudgedTexts* texts() { return nullptr; }

  /// The verdict over all comparisons. Flips name their items' numbers in the data. Its `text` has all that is said
  /// beside the batches.
  virtual Verification verdict() const = 0;
  /// The differences from the baseline, a sentence each.
  virtual std::vector<std::string> differences() const = 0;

 protected:
  /// `runs`: the plan itself, or another in its place that gives more.
  JudgedPlan(const WorkloadJudge& judge, ReadyPlan& runs) : judge_(judge), work_(judge.work()), runs_(runs) {}
  /// The reference's decisions without those that the plan does not make: of padding that it leaves out, and of routers
  /// that it takes for decided.
  std::vector<JudgedDecision> made_by_plan(const Batch& batch, std::vector<JudgedDecision> decisions) const;
  /// True if a router that the plan does not decide sends a cell of the batch to another branch. Counts such cells. The
  /// batch is then compared no further: every later difference follows from this one.
  bool goes_elsewhere(const Batch& batch, const std::vector<JudgedDecision>& decisions);
  /// Adds to a verdict what goes_elsewhere() counted.
  void add_elsewhere(Verification& verdict) const;

  const WorkloadJudge& judge_;
  Workload& work_;

 private:
  /// The decisions without those of padding, where the plan leaves it out.
  std::vector<JudgedDecision> without_padding(const Batch& batch, std::vector<JudgedDecision> decisions) const;

  ReadyPlan& runs_;
  struct Elsewhere {
    int64_t cells = 0, elsewhere = 0;
  };
  std::map<std::string, Elsewhere> elsewhere_;  // by router that the plan takes for decided
  std::set<int64_t> counted_;                   // batches: each may be compared with several references
};

/// Adds to a verdict the findings of a comparison without the oracle; `where` begins their reasons. The verdict on
/// tokens stays as it is.
void add_found(const std::string& where, const Verification& found, Verification& verdict);

}  // namespace stormcell
