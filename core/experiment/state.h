// What an open experiment holds; shared by the façade's parts.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/batch_inputs.h"
#include "core/experiment/budget_meter.h"
#include "core/experiment/experiment.h"
#include "core/experiment/ready_plan.h"
#include "core/experiment/routing_judge.h"
#include "core/machine/other_load.h"
#include "core/oracle/oracle.h"
#include "core/passes/pass.h"
#include "core/runtime/device.h"

namespace stormcell {

/// Of a plan: its graph for pictures of a size; of a model without pictures for 0x0.
using GraphOfSize = std::function<std::shared_ptr<const Graph>(PictureSize)>;

struct Experiment::State {
  ExperimentOptions options;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Dataset> data;
  std::unique_ptr<Device> device;
  PictureSize picture;                 ///< the largest of the data; 0x0: the model takes none
  std::shared_ptr<const Graph> graph;  ///< forward, in the number format that runs, for pictures of that size
  std::unique_ptr<WeightStore> store;
  BudgetMeter budget;                    ///< of the store
  std::shared_ptr<SharedMemory> memory;  ///< of all plans: they never run at the same time
  std::shared_ptr<StateStore> states;    ///< of all plans; null: each has its own
  DeviceProbe ceilings;                  ///< the larger of the readings; kernels and placement as read last
  std::array<DeviceProbe, 2> readings;   ///< before and after measuring
  DType dtype = DType::f32;
  double tolerance = 1e-4;                 ///< of the execution
  std::optional<Bf16Rows> bf16_rows = {};  ///< of the device, where its products round their input to bf16

  /// What passes see beside the profile, which must outlive it as the graph must.
  PassInput pass_input(const Graph& graph, const LoadProfile& profile) const;
  /// The same of what a configuration says, where no profile is asked.
  PassInput pass_input(const Graph& graph) const;
  /// What the plan says of a stored graph (--annotate), and its weights in the format that runs.
  std::shared_ptr<const Graph> prepared(std::shared_ptr<const Graph> stored) const;
  /// The device has kernels for what a graph's annotations ask for; Error(bad_input) that begins with `where`.
  void check_annotations(const std::shared_ptr<const Graph>& graph, const std::string& where, int64_t new_tokens = 0) const;

  /// `graph`, or the same for pictures of another size: built when it is asked for, held for the sizes that were asked for last.
  std::shared_ptr<const Graph> graph_for(PictureSize size) const;

  /// How cells of one item reach others in it; held as graphs are.
  const CellReach& reach_for(PictureSize size) const;

  ModelFigures model_figures() const;
  DatasetFigures dataset_figures() const;
  DeviceFigures device_figures() const;
  /// As it ran, of one phase.
  std::string settings_json(std::string_view phase) const;
  /// Of the model and of what was asked for.
  std::vector<std::string> warnings() const;

  /// Ceilings and placement before (0) or after (1) measuring. Resets the peak of resident memory, so
  /// the probe's buffer is not charged to a run.
  void probe(size_t reading, const Progress& progress);
  /// What was not quiet: ceilings that changed, executions of the same batch that did (`spread`, see repeat_spread()), others at work.
  void warn_of_noise(double spread, const OtherLoad& others, std::vector<std::string>& warnings) const;
  /// Guards that miss more often than they hold.
  static void warn_of_misses(const ReadyPlan& plan, std::vector<std::string>& warnings);

  /// Throws Error(bad_input) where a plan of these graphs does not fit into `available` bytes, before anything of it is loaded. Where only
  /// what its fallbacks would load does not fit beside it, that is a warning.
  void check_fits(const GraphOfSize& graphs, int64_t available, std::vector<std::string>& warnings, int64_t new_tokens = 0) const;
  /// Compiled for the largest pictures at once, for others when they come; `new_tokens`: as ReadyPlan has them. The state must outlive the
  /// plan.
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, GraphOfSize graphs, int64_t new_tokens, const Progress& progress);
  /// Of data whose pictures, if there are any, all have one size.
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> graph, int64_t new_tokens,
                                       const Progress& progress);
  /// Runs one batch on the plan of its size, which is the one in use then; the result stays in plan.result, tokens in plan.decoded.
  void run_batch(ReadyPlan& plan, const Batch& batch, const ExecuteOptions& options);
  /// Physical limit of one batch in milliseconds, by operator, with the loads of `plan.result` recorded on it.
  double limit_milliseconds(const ReadyPlan& plan, const Bindings& bindings, std::map<std::string, OperatorTime>* by_operator) const;

  /// How the device's products compute in the format that runs.
  Arithmetic arithmetic() const;
  /// Of what the format may cost against the stored weights.
  double format_tolerance() const;
  /// Verifies `plan`, of forward passes (and `baseline`, where it is another plan), as design 5.1 and 5.2 say.
  Verification verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress);
  /// How each plan differs from the baseline on one batch, in a sentence; empty: not at all.
  std::vector<std::string> differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans, int64_t batch);
  /// Figures of a plan from its times over `batches`, which may name a batch more than once.
  PlanFigures plan_figures(const ReadyPlan& plan, const Latency& latency, const std::vector<int64_t>& batches, int64_t rounds) const;
  /// Mean physical limit of `batches`, which may name a batch more than once: each is run again, recorded.
  double mean_limit_milliseconds(ReadyPlan& plan, const std::vector<int64_t>& batches, const Progress& progress);
  /// Time by operator over the first batches, with step events on.
  std::vector<OperatorTime> operator_times(ReadyPlan& plan, const Progress& progress);

 private:
  mutable BySize<std::shared_ptr<const Graph>> graphs_;
  mutable BySize<CellReach> reach_;
  CompiledPlan lowered(std::shared_ptr<const Graph> graph, const Bindings& bounds) const;
  /// What a batch asks for: its cells without padding, or the tokens that a plan decoded of it.
  int64_t cells_of(const ReadyPlan& plan, int64_t batch) const;
};

}  // namespace stormcell
