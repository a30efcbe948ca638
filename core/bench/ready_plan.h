// A plan that is ready to run, for whatever size the pictures of a batch have.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "core/base/progress.h"
#include "core/bench/by_size.h"
#include "core/bench/record_plan.h"
#include "core/passes/pass.h"
#include "core/runtime/executor.h"
#include "core/summary/results.h"

namespace stormcell {

class ForcedChoices;

/// A graph for one size of picture, and what runs it. Without an executor it is lowered only.
struct CompiledPlan {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Program> program;
  std::shared_ptr<const RecordPlan> records;
  std::shared_ptr<Executor> executor;
};

struct GuardCounts {
  int64_t hits = 0, misses = 0;
};

/// Promises of a plan's passes, beside its graph.
struct PlanPromises {
  bool same_bits = true;  ///< the bits of the baseline, on a device that keeps them
  /// The assumed branches of all cells, for each router that the plan does not decide.
  std::map<std::string, std::set<int32_t>> undecided;
  void add(const PassResult& pass);
};

/// Tokens that were written, of those in ReadyPlan::decoded.
int64_t count_written(std::span<const int32_t> tokens);

/// In ReadyPlan::stopped.
inline constexpr int64_t kNotStopped = std::numeric_limits<int64_t>::max();
/// Puts -1 behind the end of each text; `tokens` [sequences, most].
void end_texts(std::span<const int64_t> stopped, int64_t most, std::vector<int32_t>& tokens);

/// A plan of a model, with the figures of its runs. The base class holds the plan as it is compiled for the pictures of
/// the last batch; plans for at most four sizes are held. A model without pictures has one size, 0x0.
class ReadyPlan : public CompiledPlan {
 public:
  using Lower = std::function<CompiledPlan(PictureSize)>;           ///< graph, program and records for a size
  using Compile = std::function<void(CompiledPlan&, PictureSize)>;  ///< adds the executor
  ReadyPlan(std::string name, const WeightStore& store, Lower lower, Compile compile, PictureSize first);

  ReadyPlan(const ReadyPlan&) = delete;
  ReadyPlan& operator=(const ReadyPlan&) = delete;

  const std::string& name() const { return name_; }
  /// Selects a size: all that it inherits is for pictures of this size from here on. Throws Error(failed) if the plan
  /// of this size has other routers or other steps than the first: a record names both by number.
  void use(PictureSize size);
  /// Runs one batch on the plan of its size, which is the one in use then; the result stays in `result`, tokens in
  /// `decoded`.
  void run(const Batch& batch, const ExecuteOptions& options);
  /// The bindings of a batch for the graph in use.
  Bindings bindings(const Batch& batch) const;
  /// The plan of a size, without an executor.
  CompiledPlan lowered(PictureSize size) const { return lower_(size); }
  /// The layout of the first size: spaces, routers, steps with their work.
  const RunLayout& layout() const { return layout_; }

  int64_t builds() const { return compiled_.builds(); }
  /// Bytes of arena, states and scratch for the largest of the sizes used so far: all sizes share one arena.
  int64_t activation_bytes() const { return activation_bytes_; }
  /// Bytes of the weights that any size has needed so far; weights of branches count as far as the budget has room. The
  /// second: bytes of weights that only fallbacks need which never ran.
  int64_t weight_bytes() const;
  int64_t unloaded_weight_bytes() const;

  int64_t new_tokens = 0;        ///< tokens that it decodes at most; 0: one forward pass
  ProgressSink* sink = nullptr;  ///< sink of the call that made the plan; null: nobody listens
  PlanPromises promises;
  std::shared_ptr<const ForcedChoices> forced;  ///< choices that it runs with if nothing else is replayed; null: none
  /// The graph that a verification runs instead: the same plan with further outputs. Empty: the plan itself.
  std::function<std::shared_ptr<const Graph>()> judged;

  ExecutionResult result;  ///< result of the last batch
  /// by batch: [sequences, new_tokens] as it was decoded last, -1 behind the end
  std::map<int64_t, std::vector<int32_t>> decoded;
  /// by batch, where the host ended a text: how many tokens each sequence has; kNotStopped: the text was not ended
  std::map<int64_t, std::vector<int64_t>> stopped;
  /// by the pass that put them there, since the plan was made or they were cleared
  std::map<std::string, GuardCounts> guards;
  StateFigures states;      ///< over all batches that ran so far
  int64_t lost_events = 0;  ///< lost in all batches that ran so far

 private:
  CompiledPlan build(PictureSize size);
  void keep_result(const Batch& batch);
  void check_layout(PictureSize size, const RunLayout& other) const;

  std::string name_;
  const WeightStore& store_;
  Lower lower_;
  Compile compile_;
  BySize<CompiledPlan> compiled_;
  PictureSize size_;
  RunLayout layout_;
  int64_t activation_bytes_ = 0;
  std::set<WeightHandle> needed_, spared_;  // weights, of the sizes that are not in use
};

}  // namespace stormcell
