// Verifies every workload as docs/concepts.md describes: the oracle on the first batches, decisions replayed
// and free; the rest against the baseline.
//
// This room judges plans: references, judges of outputs and of routing, flips, tolerances, and the judged plans of a
// forward pass and of decoding. It runs plans of core/bench and times none.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

struct VerifyOptions {
  /// Seconds, both from the beginning. Until oracle_seconds, batches are compared with the oracle: at least one of each
  /// size of picture, or as many pictures of that one as there is time for. Until all_seconds, the others are compared
  /// with the baseline, at least one.
  double oracle_seconds = 0, all_seconds = 0;
  bool format_cost = true;  ///< if the weights run in another format than they are stored in: also judges what that
                            ///< costs
  /// what the oracle takes for a pixel; nothing: it is measured where it may be long
  std::optional<double> pixel_seconds = {};
};
/// The options by --verify-seconds.
VerifyOptions verify_options(const ExperimentState& state);

/// Compares the plan, and the baseline if it is another, with the oracle. Decoded tokens are those of plan.decoded. A
/// run whose model files changed under it is not verified, whatever was compared.
Verification verify(Workload& work, ReadyPlan& plan, ReadyPlan* baseline, const VerifyOptions& options,
                    const Progress& progress);

/// How each plan differs from the baseline on one batch, in a sentence; empty: not at all. No progress is reported.
std::vector<std::string> differences_from(Workload& work, ReadyPlan& baseline,
                                          const std::vector<std::unique_ptr<ReadyPlan>>& plans, int64_t batch,
                                          const CancellationToken& cancel);

}  // namespace stormcell
