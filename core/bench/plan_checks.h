// Checks annotations and configurations before anything of a plan runs: whether they fit the model and the device, and
// which of them have no effect. run and inspect check alike.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/base/run_kind.h"
#include "core/configuration/plan_config.h"
#include "core/models/model.h"
#include "core/passes/pipeline.h"
#include "core/runtime/device.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

/// Annotations, NAME.KEY=WORD each, and who says them ("--annotate", a file): errors and warnings begin with it.
struct SaidAnnotations {
  std::vector<std::string> list;
  std::string where;
};

/// The graph with those annotations whose names it has; the graph itself if there are none. Throws Error(bad_input).
std::shared_ptr<const Graph> annotated(std::shared_ptr<const Graph> graph, const SaidAnnotations& said);

/// The graphs of a model, in which names are looked for.
struct PhaseGraphs {
  std::shared_ptr<const Graph> forward, decode;  ///< decode null: the model cannot generate
};
/// Checks that the names of annotations occur in a graph that runs in `phase`. Returns a sentence for each name that
/// only another graph has. Throws Error(bad_input) if no graph of the model has it.
std::vector<std::string> check_annotated_names(const PhaseGraphs& graphs, WorkPhase phase, const SaidAnnotations& said);
/// A sentence for each annotation that a later one of the list overrules.
std::vector<std::string> overruled(const Graph& graph, const SaidAnnotations& said);
/// A sentence for each of `said` that one of `above` overrules.
std::vector<std::string> overruled(const Graph& graph, const SaidAnnotations& said, const SaidAnnotations& above);

/// The place where a plan would run.
struct PlanSite {
  Device& device;
  std::shared_ptr<const WeightSource> weights;
  int64_t budget = 0;  ///< --weight-budget, bytes; 0: none
};
/// Lays out the plan of a graph without loading weights. Returns a store that lists the weights it needs: a new one for
/// each plan, because a layout that was requested once stays listed.
std::unique_ptr<WeightStore> asked_weights(const PlanSite& site, std::shared_ptr<const Graph> graph,
                                           const Bindings& bounds);
/// Checks that the device has kernels for the annotations of a graph, which has them already; Error(bad_input) that
/// begins with `where` if not. Returns a sentence for each annotation on residency that changes nothing.
std::vector<std::string> check_annotations(const PlanSite& site, const std::shared_ptr<const Graph>& graph,
                                           const Bindings& bounds, const SaidAnnotations& said);

/// Throws Error(bad_input) that begins with `file`, where a configuration was found for another phase.
void check_phase_of(const PlanConfig& config, WorkPhase phase, const std::string& file);
/// The same for a configuration of another model: other weights route otherwise, so this model may need what that plan
/// leaves out.
void check_model_of(const PlanConfig& config, const Model& model, const std::string& file);
/// Replays the passes of a configuration. Throws Error(bad_input) that begins with `file` if the configuration is wrong
/// about one.
PipelineResult replay_config(const PassInput& input, const PlanConfig& config, const std::string& file);
/// A sentence for each pass that did not apply, and for each part of a pass that was not found again.
std::vector<std::string> not_taken_over(const PipelineResult& replayed);

}  // namespace stormcell
