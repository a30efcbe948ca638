// Analysis of a recorded or imported routing: loads and their balance, which branch follows which, what can be guessed,
// and drift.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/run_kind.h"
#include "core/comparison/analysis_chance.h"
#include "core/profile/cache_replay.h"
#include "core/profile/pair_figures.h"

namespace stormcell {

struct RouterAnalysis {
  std::string router;
  int64_t layer = 0;
  std::vector<int64_t> load;  ///< cells each branch got, padding included
  double imbalance = 0;       ///< max / mean - 1
  double balancedness = 0;    ///< (mean + 1e-5) / (max + 1e-5), each branch taken for a GPU of its own
  double entropy_bits = 0, gini = 0;
  int64_t touched = 0;  ///< branches with any load
  // The same without padding.
  std::vector<int64_t> load_real;
  double imbalance_real = 0, balancedness_real = 0, entropy_bits_real = 0, gini_real = 0;
  int64_t touched_real = 0;
  std::vector<int32_t> hot;   ///< the fewest branches that hold half of the load without padding, most loaded first
  std::vector<int32_t> cold;  ///< branches below a tenth of the mean load without padding
  /// TensorRT-LLM's imbalance ratio, (largest - mean) / mean, of the slots that held an expert and of the ranks that
  /// shared them; null: the trace has no loads of slots.
  std::optional<double> imbalance_of_slots, imbalance_of_ranks;
};

/// Transitions between two routers in succession; `pairs`: pairs of kept choices, k x k for each cell.
struct RouterTransitions {
  std::string router, next;
  int64_t pairs = 0;
  TransitionFigures figures;
};
/// Co-activation at a router that gives a cell several branches.
struct RouterCoactivation {
  std::string router;
  int64_t pairs = 0;
  std::vector<BranchesTogether> strongest;
};

/// Hits of a cache with this budget; null rate: no lookups.
struct CacheFigures {
  CachePolicy policy = CachePolicy::lru;
  int64_t budget_bytes = 0;
  struct Count {
    int64_t hits = 0, lookups = 0;
    std::optional<double> rate;
  } all, decode;
};

/// Recall of guesses (core/profile/predictability.h has the definitions); null: the data do not show it.
struct PredictabilityFigures {
  std::optional<double> temporal_lag1, static_in_sample, static_from_prompt, static_held_out, transition_held_out;
};

/// Distinct experts of all layers between two uses of one (core/profile/reuse.h); null: nothing is used twice.
struct ReuseFigures {
  int64_t lookups = 0, first_uses = 0;
  std::optional<int64_t> p50, p90, p99;
};

/// Whether the second half is routed differently from the first (core/profile/drift.h).
struct DriftFigures {
  double distance = 0, expected = 0, p_value = 1;
  int64_t blocks = 0;
  ChanceRange by_chance = {};  ///< of random halves
};

/// Whether another recording is routed differently from this one.
struct AgainstFigures {
  std::string session;
  int64_t run = 0;
  RunStatus status = RunStatus::interrupted;  ///< of that run
  int64_t batches = 0;
  std::optional<DriftFigures> drift;
  std::string why_not;  ///< why it cannot be judged
  std::string doubt;    ///< why it may be another model's; empty: it is this model's
};

struct AnalyzeOptions {
  std::string session;
  std::string cache;         ///< lru, lfu, belady; empty: none is replayed
  int64_t budget_bytes = 0;  ///< of the cache
  std::string against = {};  ///< another recording of the same model, named as `session`; empty: none
};

struct AnalyzeFigures {
  std::string session;
  int64_t run = 0;
  RunStatus status = RunStatus::interrupted;
  int64_t batches = 0;
  std::string model;
  int64_t layers = 0, branches = 0, k = 0;  ///< routers, and the most branches and choices of one of them
  std::vector<std::string> phases;          ///< forward, prefill, decode: those with cells
  std::vector<RouterAnalysis> routers;
  std::vector<std::string> lacks;          ///< facts that the data lack
  std::vector<std::string> lacks_how;      ///< of each, what its recorder must be given for it; empty: nothing is known
  double imbalance = 0, balancedness = 0;  ///< means over routers with load, without padding
  std::optional<double> imbalance_of_slots, imbalance_of_ranks;
  /// those that any cell made; null: there are no single choices
  std::optional<std::vector<RouterTransitions>> transitions;
  std::optional<std::vector<RouterCoactivation>> coactivation;
  PredictabilityFigures predictability;
  std::optional<ReuseFigures> reuse;  ///< null: there are no single choices, or too many to be read unasked
  std::optional<DriftFigures> drift;  ///< null: too few steps
  std::optional<CacheFigures> cache;
  std::optional<AgainstFigures> against;
  AnalysisChance chance;
};

/// "S.storm", "S.storm#3" or "S.storm#name"; the newest run that has loads.
AnalyzeFigures analyze_session(const AnalyzeOptions& options, const Progress& progress = {});
inline AnalyzeFigures analyze_session(const std::string& session, const Progress& progress = {}) {
  return analyze_session(AnalyzeOptions{session, {}, 0}, progress);
}
/// stormcell.analyze/1
std::string to_json(const AnalyzeFigures& figures);

}  // namespace stormcell
