// An open experiment: model, data, device, weights, and what runs on them. The verbs share it; open_state.h makes it.
//
// This room opens them, makes plans that are ready to run, runs workloads and records what they do. It judges nothing
// and times nothing.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/number_format.h"
#include "core/bench/arithmetic.h"
#include "core/bench/batch_inputs.h"
#include "core/bench/budget_meter.h"
#include "core/bench/device_ceilings.h"
#include "core/bench/memory_check.h"
#include "core/bench/plan_checks.h"
#include "core/bench/ready_plan.h"
#include "core/oracle/oracle.h"
#include "core/passes/pass.h"
#include "core/runtime/device.h"
#include "core/summary/settings.h"

namespace stormcell {

/// A plan's graph for pictures of a size; for 0x0 if the model takes no pictures.
using GraphOfSize = std::function<std::shared_ptr<const Graph>(PictureSize)>;

/// Whether what runs keeps the scores that its routers read: as --record-scores says, or in any case.
enum class KeepScores : uint8_t { as_asked, yes };

/// Whether a device comes back to the host before each turn of a repeat.
enum class HostTurns : uint8_t { none, each };

struct ExperimentState {
  ExperimentOptions options;
  double open_seconds = 0;  ///< seconds that opening took
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Dataset> data;
  std::unique_ptr<Device> device;
  PictureSize picture;                 ///< the largest of the data; 0x0: the model takes none
  std::shared_ptr<const Graph> graph;  ///< forward, in the number format that runs, for pictures of that size
  std::unique_ptr<WeightStore> store;
  BudgetMeter budget;                    ///< meter of the store
  std::shared_ptr<SharedMemory> memory;  ///< shared by all plans: they never run at the same time
  std::shared_ptr<StateStore> states;    ///< shared by all plans
  DeviceCeilings ceilings;               ///< of the device: they outlive a call, whose first reading is an older one
  DType dtype = DType::f32;
  double tolerance = kF32Tolerance;  ///< tolerance of the execution
  /// a sentence for each of --annotate that nothing which runs has a name for
  std::vector<std::string> idle_annotations;
  std::optional<Bf16Rows> bf16_rows = {};        ///< operators of a device whose products round their input to bf16
  std::vector<std::string_view> operators = {};  ///< operators of the device; empty: passes take it to have all

  /// The place where plans run.
  PlanSite site() const { return {*device, model->weights, options.weight_budget}; }
  /// The graphs with the annotations of --annotate, in the number format that runs.
  PhaseGraphs phase_graphs() const;
  /// The input of passes. The graph and the profile must outlive it. Annotations about a budget are not in it:
  /// Workload::pass_input() adds them.
  PassInput pass_input(const Graph& graph, const LoadProfile& profile) const;
  /// The same for a configuration, which asks no profile.
  PassInput pass_input(const Graph& graph) const;
  /// A stored graph with the annotations of --annotate, and its weights in the format that runs.
  std::shared_ptr<const Graph> prepared(std::shared_ptr<const Graph> stored) const;

  /// `graph`, or the same for pictures of another size: built when it is asked for, held for the sizes that were asked
  /// for last.
  std::shared_ptr<const Graph> graph_for(PictureSize size) const;

  enum class ProbeTime : uint8_t { whole, brief };
  /// Adds a reading of ceilings and placement. A call that measures nothing needs none beside that of opening.
  /// `brief`: between two executions, in a tenth of the time.
  void probe(ProbeTime time, const Progress& progress);

  /// Throws Error(bad_input) if a plan of these graphs does not fit into `available`, before anything of it is loaded.
  /// Warns if it fits only without the weights of its fallbacks, or only with copied rows.
  void check_fits(const GraphOfSize& graphs, const MemoryRoom& available, std::vector<std::string>& warnings,
                  int64_t new_tokens = 0);
  /// Makes a plan: compiled for the largest pictures at once, for others when they come; `new_tokens`: as ReadyPlan has
  /// them. The state must outlive the plan.
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, GraphOfSize graphs, int64_t new_tokens,
                                       const Progress& progress, KeepScores scores = KeepScores::as_asked,
                                       HostTurns turns = HostTurns::none);
  /// The same for data whose pictures, if there are any, all have one size.
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> graph, int64_t new_tokens,
                                       const Progress& progress);
  /// Runs a batch by ReadyPlan::run(), and counts it in the budget's report to the plan's listener.
  void run_batch(ReadyPlan& plan, const Batch& batch, const ExecuteOptions& options);

  /// How the device's products compute in the format that runs.
  Arithmetic arithmetic() const;
  bool keeps_bits() const { return device->info().keeps_bits; }
  /// Plans keep the scores that their routers read, in records and nowhere else: as it was asked, or because the
  /// choices of a plan beside its baseline are judged by the baseline's scores.
  bool keeps_scores() const { return options.record_scores || !keeps_bits(); }
  NonFinite nonfinite() const { return options.allow_nonfinite ? NonFinite::allowed : NonFinite::refused; }
  /// The weights run in another format than they are stored in.
  bool converts() const { return dtype != model->dtype; }
  /// Whether it converts to a format that does not hold them: f32 holds every number that a model may store.
  bool rounds_weights() const { return converts() && dtype != DType::f32; }

 private:
  mutable BySize<std::shared_ptr<const Graph>> graphs_;
  SentRows rows_ = SentRows::lent;  // for all plans that are made from now on
  CompiledPlan lowered(std::shared_ptr<const Graph> graph, const Bindings& bounds) const;
};

}  // namespace stormcell
