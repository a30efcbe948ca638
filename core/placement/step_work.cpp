#include "core/placement/step_work.h"

#include <algorithm>

namespace stormcell {

bool homes_known(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t ranks) {
  return std::all_of(tokens.begin(), tokens.end(), [&](size_t t) { return routes.tokens[t].rank >= 0 && routes.tokens[t].rank < ranks; });
}

StepWork::StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model)
    : placement_(placement),
      backend_(backend),
      model_(model),
      rule_(placement.ranks, nodes, backend),
      tally_(static_cast<size_t>(placement.ranks), static_cast<size_t>(nodes)),
      count_(static_cast<size_t>(placement.branches)) {
  for (const LayerSlots& layer : placement.layers) shares_.push_back(shares_of(layer, placement.branches, placement.ranks));
}

StepCost StepWork::of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, const LayerVisitor& visitor) {
  const bool homes = homes_known(routes, tokens, placement_.ranks);
  StepCost step;
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    for (const size_t t : tokens) {
      const std::span<const int32_t> choices = routes.at(t, static_cast<int32_t>(l));
      for (const int32_t choice : choices)
        if (choice >= 0) ++count_[static_cast<size_t>(choice)];
      rule_.add_token(tally_, shares_[l], choices, homes ? routes.tokens[t].rank : -1, 1);
    }
    end_layer(l, step, visitor);
  }
  return step;
}

StepCost StepWork::of_loads(const std::vector<std::vector<double>>& loads, double k, const LayerVisitor& visitor) {
  StepCost step;
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    count_ = loads[l];
    double all = 0;
    for (size_t b = 0; b < count_.size(); ++b) {
      all += count_[b];
      if (backend_ != Backend::gather) rule_.add_choices(tally_, shares_[l][b], count_[b], 1);
    }
    tally_.visits = all / k;
    if (backend_ == Backend::gather) {
      tally_.delivered = tally_.visits * static_cast<double>(placement_.ranks - 1);
      rule_.add_everywhere(tally_, tally_.visits);
    }
    end_layer(l, step, visitor);
  }
  return step;
}

void StepWork::begin_layer() {
  tally_ = LayerTally(tally_.work.size(), tally_.unknown_node.size());
  std::fill(count_.begin(), count_.end(), 0.);
}

void StepWork::end_layer(size_t layer, StepCost& step, const LayerVisitor& visitor) {
  for (size_t b = 0; b < count_.size(); ++b) rule_.add_products(tally_, shares_[layer][b], count_[b], 1);
  const std::span<const RankWork> work = rule_.work(tally_);
  const LayerCost cost = cost_of_layer(work, model_);
  step.cost.dispatch_s += cost.dispatch_s, step.cost.compute_s += cost.compute_s, step.cost.combine_s += cost.combine_s;
  step.visits += tally_.visits;
  for (const RankWork& r : work) step.network_rows += r.network_out, step.fabric_rows += r.fabric_out;
  step.delivered_rows += tally_.delivered;
  if (visitor) visitor(layer, work, cost);
}

}  // namespace stormcell
