#include "core/experiment/judged_plan.h"

#include <map>

#include "core/experiment/batch_inputs.h"
#include "core/experiment/observe.h"
#include "core/experiment/references.h"

namespace stormcell {

Observed JudgedPlan::run(const Batch& batch, const Observed* replay) {
  Observed came = observe(work_.state(), runs_, batch, replay);
  came.real = real_cells(*runs_.graph, batch);
  came.items = batch.size();
  came.by_item = work_.reach(batch.picture).by_item;
  return came;
}

std::optional<std::vector<JudgedDecision>> JudgedPlan::without_padding(const Batch& batch,
                                                                       const std::vector<JudgedDecision>& decisions) const {
  runs_.use(batch.picture);
  const std::map<std::string, std::vector<int32_t>> computed = computed_cells(*runs_.graph, *work_.judged_graph(batch.picture), batch);
  if (computed.empty()) return std::nullopt;
  return only_computed(decisions, computed);
}

}  // namespace stormcell
