#include "core/bench/plan_graphs.h"

#include "core/base/error.h"
#include "core/bench/plan_checks.h"
#include "core/graph/intervened.h"
#include "core/graph/router_thresholds.h"

namespace stormcell {

std::shared_ptr<const Graph> replay_or_fail(const PassInput& input, const PassConfiguration& configuration,
                                            const std::string& why) {
  PipelineResult passed = replay_passes(input, configuration);
  for (const PassOutcome& outcome : passed.outcomes)
    if (!outcome.cumulative.applied)
      failed("pass " + std::string(outcome.pass->id), why + ": " + outcome.cumulative.reason,
             "leave it out with --disable");
  return std::make_shared<Graph>(std::move(passed.graph));
}

GraphOfSize plan_graphs(const ExperimentState& state, std::shared_ptr<const Graph> first,
                        PassConfiguration configuration, std::vector<std::string> annotations,
                        RouterThresholds thresholds, Intervention intervention) {
  return [&state, first = std::move(first), configuration = std::move(configuration),
          annotations = std::move(annotations), thresholds = std::move(thresholds),
          intervention = std::move(intervention)](PictureSize size) -> std::shared_ptr<const Graph> {
    if (size == state.picture) return first;
    const std::shared_ptr<const Graph> graph = annotated(
        intervened(with_thresholds(state.graph_for(size), thresholds), intervention), {annotations, "annotations"});
    return replay_or_fail(state.pass_input(*graph), configuration,
                          "applies to pictures of " + to_text(state.picture) + " and not to those of " + to_text(size));
  };
}

}  // namespace stormcell
