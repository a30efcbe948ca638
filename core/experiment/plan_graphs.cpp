#include "core/experiment/plan_graphs.h"

#include "core/base/error.h"

namespace stormcell {

std::shared_ptr<const Graph> replay_or_fail(const PassInput& input, const PassConfiguration& configuration, const std::string& why) {
  PipelineResult passed = replay_passes(input, configuration);
  for (const PassOutcome& outcome : passed.outcomes)
    if (!outcome.cumulative.applied)
      failed("pass " + std::string(outcome.pass->id), why + ": " + outcome.cumulative.reason, "leave it out with --disable");
  return std::make_shared<Graph>(std::move(passed.graph));
}

GraphOfSize plan_graphs(const Experiment::State& state, std::shared_ptr<const Graph> first, PassConfiguration configuration,
                        std::vector<std::string> annotations) {
  return [&state, first = std::move(first), configuration = std::move(configuration),
          annotations = std::move(annotations)](PictureSize size) -> std::shared_ptr<const Graph> {
    if (size == state.picture) return first;
    const std::shared_ptr<const Graph> graph = annotated(state.graph_for(size), annotations, "annotations");
    return replay_or_fail(state.pass_input(*graph), configuration,
                          "applies to pictures of " + to_text(state.picture) + " and not to those of " + to_text(size));
  };
}

std::shared_ptr<const Graph> annotated(std::shared_ptr<const Graph> graph, const std::vector<std::string>& annotations,
                                       const std::string& where) {
  std::shared_ptr<Graph> changed;
  for (const std::string& text : annotations) {
    if (!may_annotate(*graph, text, where)) continue;
    if (!changed) changed = std::make_shared<Graph>(*graph);
    annotate(*changed, text, where);
  }
  return changed ? changed : graph;
}

std::vector<std::string> check_annotated_names(const Experiment::State& state, WorkPhase phase, const std::vector<std::string>& annotations,
                                               const std::string& where) {
  std::vector<std::string> idle;
  if (annotations.empty()) return idle;
  const std::shared_ptr<const Graph> of_forward = state.prepared(state.model->forward),
                                     of_decode = state.model->generates ? state.prepared(state.model->generate()) : nullptr;
  for (const std::string& text : annotations) {
    const bool forward = may_annotate(*of_forward, text, where), decode = of_decode && may_annotate(*of_decode, text, where);
    if (!forward && !decode) {
      Graph none = *of_forward;
      annotate(none, text, where);  // which says so
    }
    if ((forward && phase != WorkPhase::decode) || (decode && phase != WorkPhase::forward)) continue;
    idle.push_back(where + " " + text + " has no effect: only the graph of " + (decode ? "decoding" : "a forward pass") +
                   " has this name, and --phase " + std::string(to_text(phase)) + " does not run it");
  }
  return idle;
}

}  // namespace stormcell
