#include "core/experiment/plan_graphs.h"

#include "core/base/error.h"

namespace stormcell {

GraphOfSize plan_graphs(const Experiment::State& state, std::shared_ptr<const Graph> first, PassConfiguration configuration) {
  return [&state, first = std::move(first), configuration = std::move(configuration)](PictureSize size) -> std::shared_ptr<const Graph> {
    if (size == state.picture) return first;
    const std::shared_ptr<const Graph> graph = state.graph_for(size);
    PipelineResult passed = replay_passes({*graph, {}, nullptr, {}, mask_facts(*graph, *state.data)}, configuration);
    for (const PassOutcome& outcome : passed.outcomes)
      if (!outcome.cumulative.applied)
        failed(
            "pass " + std::string(outcome.pass->id),
            "applies to pictures of " + to_text(state.picture) + " and not to those of " + to_text(size) + ": " + outcome.cumulative.reason,
            "leave it out with --disable");
    return std::make_shared<Graph>(std::move(passed.graph));
  };
}

}  // namespace stormcell
