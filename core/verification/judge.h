// The judge: does a plan compute what the reference computes? It is shown executions and decides; it runs nothing.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/verification/output_judge.h"
#include "core/verification/routing_judge.h"

namespace stormcell {

/// The results of one execution of one batch.
struct Observed {
  std::vector<JudgedDecision> decisions;
  std::vector<OutputValue> outputs;
  /// by output: 1 for each cell that counts; all of those not named here
  std::map<std::string, std::vector<int32_t>> real = {};
  int64_t items = 1;  ///< number of items in the batch
  /// for a reference: outputs that differences in other items cannot reach (CellReach::by_item)
  std::set<std::string> by_item = {};
};
/// Both take outputs out of the result: they may be large.
Observed observed(const Graph& graph, const Bindings& bindings, OracleResult<float>&& result,
                  const CellReach& reach = {});
Observed observed(const Program& program, const NamedRouters& named, const Bindings& bindings, ExecutionResult& result,
                  const CellReach* as_reference = nullptr);

/// Judges one plan over the batches that it is shown.
class Judge {
 public:
  /// `tolerance`: of every output on its own scale.
  Judge(double tolerance, Arithmetic arithmetic, NonFinite nonfinite = NonFinite::refused)
      : tolerance_(tolerance),
        routing_(arithmetic, nonfinite),
        replayed_(nonfinite),
        free_(nonfinite),
        free_alike_(nonfinite) {}

  /// One batch. `replayed`: the plan with the reference's decisions replayed and recorded; `free`: as it runs, nullptr
  /// where it was not run. Returns what choices that differ may have reached in the free one.
  Reached add(int64_t batch, const Observed& reference, const Observed& replayed, const Observed* free);
  /// The same in two steps, so that the outputs of only one execution are in memory beside the reference's: first those
  /// of the replay, which may be freed then, and then all else. `expected`: the reference's decisions, without those of
  /// cells that the plan leaves out.
  void add_replayed(int64_t batch, const Observed& reference, const std::vector<OutputValue>& outputs);
  Reached add_free(int64_t batch, const Observed& reference, const std::vector<JudgedDecision>& expected,
                   const std::vector<JudgedDecision>& replayed, const Observed* free);

  /// Some items of a batch. The plan ran the whole batch freely, and the reference replayed its decisions about these
  /// items. `plan`: its results for these items; `whole_batch`: all its decisions.
  void add_reference_replaying(int64_t batch, const Observed& reference, const Observed& plan,
                               const std::vector<JudgedDecision>& whole_batch);

  /// Outputs (with the reference's decisions, and freely if they are the same for all that an item depends on), flips,
  /// drops, and their faults; `passed` if there are none.
  Verification verdict() const;

 private:
  std::string of_tolerance(double difference) const;
  double tolerance_;
  RoutingJudge routing_;
  // free_alike_: outputs of items that no cell reaches which chose otherwise than the reference's
  OutputJudge replayed_, free_, free_alike_;
};

}  // namespace stormcell
