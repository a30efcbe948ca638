// Runs the oracle that judges a workload's plans. It answers two questions about a number format: is it executed
// rightly, and what does it cost?
#pragma once
#include "core/bench/by_size.h"
#include "core/verification/judge.h"
#include "core/verification/workload_judge.h"

namespace stormcell {

class References {
 public:
  /// `tokens` of each sequence are decoded, at most; 0: a forward pass. The judge must outlive it.
  References(const WorkloadJudge& judge, int64_t tokens, const Progress& progress)
      : judge_(judge), work_(judge.work()), tokens_(tokens), progress_(progress) {}

  /// Runs an oracle that holds the weights in the format that runs, and rounds inputs of products where the device
  /// does.
  Observed running(const Batch& batch) const;
  /// The same for a batch whose decisions are known: those of `decisions`, which name its cells in their order.
  Observed replaying(const Batch& batch, const std::vector<JudgedDecision>& decisions) const;
  /// Runs an oracle that holds the weights as they are stored.
  Observed stored(const Batch& batch);

 private:
  Observed run(const Graph& graph, const Batch& batch, bool round_inputs, OracleReplay replay = {}) const;

  const WorkloadJudge& judge_;
  const Workload& work_;
  int64_t tokens_;
  const Progress& progress_;
  BySize<std::shared_ptr<const Graph>> stored_;
};

/// A router whose choices are forced has none of its own to differ in: `free_choice` becomes what it was given.
void take_forced_as_chosen(const ForcedChoices& forced, int64_t batch, std::vector<JudgedDecision>& decisions);

/// The cells that count, by output; an output that is not named counts them all. Outputs of turns are never named.
std::map<std::string, std::vector<int32_t>> real_cells(const Graph& graph, const Batch& batch);

}  // namespace stormcell
