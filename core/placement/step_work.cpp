#include "core/placement/step_work.h"

#include <algorithm>

namespace stormcell {

bool homes_known(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t ranks) {
  return std::all_of(tokens.begin(), tokens.end(),
                     [&](size_t t) { return routes.tokens[t].rank >= 0 && routes.tokens[t].rank < ranks; });
}

LayerCost LayerWork::cost(const CostModel& model) const {
  LayerCost cost = cost_of_layer(ranks, combined, model, dispatch_homes, combine_homes);
  if (met <= 0) return cost;
  const RankWork one_branch = {
      .active = met, .rows = kRowTile, .expert_us = model.expert_curve ? met * model.expert_curve->us(1) : 0};
  cost.compute_s = std::max(cost.compute_s, compute_s(one_branch, model));
  return cost;
}

void LayerWork::crowd(const HomeCrowding& homes, Residence residence, size_t layer) {
  if (residence == Residence::home) dispatch_homes = combine_homes = homes;
  if (residence == Residence::follow && layer == 0) dispatch_homes = homes;
}

StepWork::StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model,
                   ReplicaRule replicas, Residence residence)
    : placement_(placement),
      backend_(backend),
      model_(model),
      replicas_(replicas),
      residence_(residence),
      ranks_(static_cast<size_t>(placement.ranks)),
      gpus_per_node_(static_cast<size_t>(placement.ranks / nodes)),
      rule_(placement.ranks, nodes, backend, model.rank_cost, replicas, model.expert_curve),
      tally_(static_cast<size_t>(placement.ranks), static_cast<size_t>(nodes)),
      combined_(tally_),
      count_(placement.branches) {
  for (const LayerSlots& layer : placement.layers)
    shares_.push_back(shares_of(layer, placement.branches, placement.ranks));
  if (replicas == ReplicaRule::even) return;
  for (const std::vector<BranchShares>& layer : shares_) {
    computes_.emplace_back();
    for (const BranchShares& branch : layer)
      computes_.back().push_back(nearest_from_anywhere(branch, ranks_, gpus_per_node_));
  }
}

StepCost StepWork::of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, const LayerVisitor& visitor) {
  const bool homes = homes_known(routes, tokens, placement_.ranks);
  StepCost step;
  std::vector<BranchShares> lives(residence_ == Residence::follow ? tokens.size() : 0);
  for (size_t i = 0; i < lives.size() && homes; ++i)
    lives[i] = {{static_cast<size_t>(routes.tokens[tokens[i]].rank), 1}};
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    const bool by_home = homes && replicas_ == ReplicaRule::nearest;
    count_of_home_.assign(by_home ? count_.size() * ranks_ : 0, 0);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const size_t t = tokens[i];
      const std::span<const int32_t> choices = routes.at(t, static_cast<int32_t>(l));
      for (const int32_t choice : choices) {
        if (choice < 0) continue;
        ++count_[choice];
        if (by_home) ++count_of_home_[choice * ranks_ + routes.tokens[t].rank];
      }
      if (residence_ == Residence::follow)
        add_following(l, choices, lives[i]);
      else
        rule_.add_token(tally_, shares_[l], choices, homes ? routes.tokens[t].rank : -1, 1);
    }
    end_layer(l, homes, step, visitor);
  }
  return step;
}

StepCost StepWork::of_loads(const LayerLoads& loads, double k, const LayerVisitor& visitor) {
  StepCost step;
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    count_of_home_.clear();
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
    end_layer(l, false, step, visitor);
  }
  return step;
}

void StepWork::begin_layer() {
  tally_ = LayerTally(tally_.work.size(), tally_.unknown_node.size());
  if (residence_ == Residence::follow) combined_ = tally_;
  std::fill(count_.begin(), count_.end(), 0.);
}

void StepWork::add_products_by_home(size_t layer) {
  for (size_t b = 0; b < count_.size(); ++b)
    if (count_[b] > 0)
      rule_.add_products_by_home(tally_, shares_[layer][b], std::span(count_of_home_).subspan(b * ranks_, ranks_), 1);
}

void StepWork::add_following(size_t layer, std::span<const int32_t> choices, BranchShares& homes) {
  if (homes.empty()) rule_.add_token(tally_, shares_[layer], choices, -1, 1);
  for (const BranchShare& h : homes)
    rule_.add_token(tally_, shares_[layer], choices, static_cast<int32_t>(h.rank), h.part);
  rule_.add_following(combined_, shares_[layer], choices, 1);
  if (const int32_t first = first_kept(choices); first >= 0) homes = shares_[layer][first];
}

void StepWork::end_layer(size_t layer, bool homes, StepCost& step, const LayerVisitor& visitor) {
  if (count_of_home_.empty()) {
    const std::vector<BranchShares>& shares = replicas_ == ReplicaRule::nearest ? computes_[layer] : shares_[layer];
    for (size_t b = 0; b < count_.size(); ++b) rule_.add_products(tally_, shares[b], count_[b], 1);
  } else {
    add_products_by_home(layer);
  }
  LayerWork work;
  work.ranks = work.combined = rule_.work(tally_);
  step.returned_rows += residence_ == Residence::follow ? combined_.delivered : tally_.delivered;
  if (residence_ == Residence::follow) {
    dispatch_.assign(work.ranks.begin(), work.ranks.end());
    work.ranks = dispatch_, work.combined = rule_.work(combined_);
  }
  work.met = chance_met(std::span<const double>(count_));
  if (!homes) work.crowd(rule_.crowding(tally_.visits), residence_, layer);
  const LayerCost cost = work.cost(model_);
  step.cost += cost;
  step.visits += tally_.visits;
  for (const RankWork& r : work.ranks) step.network_rows += r.network_out, step.fabric_rows += r.fabric_out;
  step.delivered_rows += tally_.delivered;
  if (visitor) visitor(layer, work, cost);
}

}  // namespace stormcell
