#include "core/placement/placed_steps.h"

#include <algorithm>
#include <utility>

#include "core/base/quantile.h"

namespace stormcell {

PlacedSteps::PlacedSteps(Placement start, int32_t nodes, Backend backend, const CostModel& model, ReplicaRule replicas,
                         Residence residence, size_t steps)
    : placement_(std::move(start)),
      backend_(backend),
      model_(model),
      replicas_(replicas),
      residence_(residence),
      slots_per_rank_(static_cast<size_t>(placement_.slots_of_rank())),
      gpus_per_node_(static_cast<size_t>(placement_.ranks / nodes)),
      rule_(placement_.ranks, nodes, backend, model.rank_cost, replicas, model.expert_curve),
      count_of_home_(placement_.ranks) {
  const size_t layers = placement_.layers.size(), branches = static_cast<size_t>(placement_.branches);
  for (const LayerSlots& layer : placement_.layers)
    shares_.push_back(shares_of(layer, placement_.branches, placement_.ranks));
  tally_.assign(steps * layers, LayerTally(static_cast<size_t>(placement_.ranks), static_cast<size_t>(nodes)));
  if (residence_ == Residence::follow) combined_ = tally_;
  count_.assign(steps * layers * branches, 0);
  met_.assign(steps * layers, 0), tokens_.assign(steps * layers, 0);
  homes_.assign(steps, 0);
  layer_cost_.assign(steps * layers, 0), step_s_.assign(steps, 0), is_touched_.assign(steps * layers, 0);
}

PlacedSteps::PlacedSteps(const TokenRoutes& routes, const std::vector<std::vector<size_t>>& steps, Placement start,
                         int32_t nodes, Backend backend, const CostModel& model, ReplicaRule replicas,
                         Residence residence)
    : PlacedSteps(std::move(start), nodes, backend, model, replicas, residence, steps.size()) {
  routes_ = &routes;
  for (size_t s = 0; s < steps.size(); ++s) homes_[s] = homes_known(routes, steps[s], placement_.ranks);
  // Copies for each expert of tokens that live anywhere follow from counts, and what goes everywhere from nothing.
  const bool anywhere = std::none_of(homes_.begin(), homes_.end(), [](uint8_t known) { return known != 0; });
  by_token_ =
      residence == Residence::follow || (backend != Backend::gather && !(backend == Backend::per_expert && anywhere));
  const size_t layers = shares_.size(), branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t l = 0; l < layers; ++l)
      for (const size_t t : steps[s]) {
        for (const int32_t choice : routes.at(t, static_cast<int32_t>(l)))
          if (choice >= 0) ++count_[at(s, l) * branches + choice];
        if (routes.visits(t, static_cast<int32_t>(l))) ++tokens_[at(s, l)];
        if (backend == Backend::gather || by_token_)
          add_token({static_cast<uint32_t>(s), static_cast<uint32_t>(t)}, l, 1);
      }
  for (size_t s = 0; s < steps.size(); ++s)
    for (const size_t t : steps[s]) members_.push_back({static_cast<uint32_t>(s), static_cast<uint32_t>(t)});
  visits_ = BranchIndex<Visit>(routes, branches, [&](const auto& visit) {
    for (const Visit& v : members_) visit(v.token, v);
  });
  begin();
}

PlacedSteps::PlacedSteps(const std::vector<LayerLoads>& steps, double k, Placement start, int32_t nodes,
                         Backend backend, const CostModel& model, ReplicaRule replicas)
    : PlacedSteps(std::move(start), nodes, backend, model, replicas, Residence::home, steps.size()) {
  const size_t layers = shares_.size(), branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t l = 0; l < layers; ++l) {
      double all = 0;
      for (size_t b = 0; b < branches; ++b) {
        const double count = steps[s][l][b];
        count_[at(s, l) * branches + b] = static_cast<float>(count);
        all += count;
      }
      tokens_[at(s, l)] = all / k;
      if (backend == Backend::gather) rule_.add_everywhere(tally_[at(s, l)], all / k);
    }
  begin();
}

void PlacedSteps::begin() {
  const size_t branches = placement_.branches;
  for (size_t i = 0; i < met_.size(); ++i)
    met_[i] = chance_met(std::span<const float>(count_).subspan(i * branches, branches));
  for (size_t l = 0; l < shares_.size(); ++l) {
    for (size_t b = 0; b < shares_[l].size(); ++b) add_products(l, b, 1);
    for (size_t s = 0; s < steps(); ++s) touch(s, l);
  }
  cost_touched();
}

double PlacedSteps::mean_s() const { return sum_s_ / static_cast<double>(steps()); }

double PlacedSteps::p95_s() const { return quantile(step_s_, 0.95); }

double PlacedSteps::layer_s(size_t layer) const {
  double sum = 0;
  for (size_t s = 0; s < steps(); ++s) sum += layer_cost_[at(s, layer)];
  return sum / static_cast<double>(steps());
}

size_t PlacedSteps::slowest_rank(size_t step, size_t layer) {
  const LayerWork work = work_of(step, layer);
  size_t slowest = 0;
  double most = 0;
  for (size_t r = 0; r < work.ranks.size(); ++r) {
    const double alone = cost_of_layer(work.ranks.subspan(r, 1), work.combined.subspan(r, 1), model_,
                                       work.dispatch_homes, work.combine_homes)
                             .seconds();
    if (alone > most) most = alone, slowest = r;
  }
  return slowest;
}

bool PlacedSteps::holds(size_t layer, size_t rank, int32_t branch) const {
  const BranchShares& shares = shares_[layer][branch];
  return std::any_of(shares.begin(), shares.end(), [&](const BranchShare& s) { return s.rank == rank; });
}

bool PlacedSteps::may_swap(size_t layer, size_t slot, size_t other) const {
  const int32_t a = placement_.layers[layer][slot], b = placement_.layers[layer][other];
  const size_t x = rank_of(slot), y = rank_of(other);
  return x != y && a != b && (a < 0 || !holds(layer, y, a)) && (b < 0 || !holds(layer, x, b));
}

bool PlacedSteps::may_replicate(size_t layer, int32_t branch, size_t slot) const {
  const int32_t old = placement_.layers[layer][slot];
  return !holds(layer, rank_of(slot), branch) && (old < 0 || replicas(layer, old) > 1);
}

void PlacedSteps::swap(size_t layer, size_t slot, size_t other) {
  LayerSlots& slots = placement_.layers[layer];
  std::swap(slots[slot], slots[other]);
  renew(layer, slots[slot]), renew(layer, slots[other]);
  cost_touched();
}

void PlacedSteps::replicate(size_t layer, int32_t branch, size_t slot) {
  const int32_t old = placement_.layers[layer][slot];
  placement_.layers[layer][slot] = branch;
  renew(layer, old), renew(layer, branch);
  cost_touched();
}

void PlacedSteps::apply(std::span<const SlotChange> changes) {
  if (changes.empty()) return;
  const size_t layer = changes.front().layer;
  for (const SlotChange& c : changes) placement_.layers[layer][c.slot] = c.after;
  if (by_token_ && changes.size() * static_cast<size_t>(routes_->k) > static_cast<size_t>(placement_.branches))
    return rebuild(layer);
  // A branch that did not move costs a look at the slots.
  for (const SlotChange& c : changes) renew(layer, c.before), renew(layer, c.after);
  cost_touched();
}

void PlacedSteps::set_layer(size_t layer, const LayerSlots& slots) {
  placement_.layers[layer] = slots;
  for (int32_t b = 0; b < placement_.branches; ++b) renew(layer, b);
  cost_touched();
}

void PlacedSteps::rebuild(size_t layer) {
  const auto add_all_onward = [&](double sign) {
    for (const Visit& v : members_)
      if (residence_ == Residence::follow) add_onward(v, layer, sign);
  };
  add_all_onward(-1);
  shares_[layer] = shares_of(placement_.layers[layer], placement_.branches, placement_.ranks);
  for (size_t s = 0; s < steps(); ++s) {
    LayerTally& tally = tally_[at(s, layer)];
    tally = LayerTally(tally.work.size(), tally.unknown_node.size());
    if (residence_ == Residence::follow) combined_[at(s, layer)] = tally;
    touch(s, layer);
  }
  for (size_t b = 0; b < shares_[layer].size(); ++b) add_products(layer, b, 1);
  for (const Visit& v : members_) add_token(v, layer, 1);
  add_all_onward(1);
  cost_touched();
}

// Renews one branch after the other: a token that chose several is taken away as it is by then and added as it is from
// then on.
void PlacedSteps::renew(size_t layer, int32_t branch) {
  if (branch < 0) return;
  find_shares(placement_.layers[layer], branch, placement_.ranks, next_);
  BranchShares& shares = shares_[layer][branch];
  if (next_ == shares) return;
  if (by_token_ && residence_ == Residence::home && replicas_ == ReplicaRule::even) return move_branch(layer, branch);
  add_branch(layer, branch, -1);
  shares.swap(next_);
  add_branch(layer, branch, 1);
}

// Looks at each token once, since tokens stay and replicas share evenly: an edit of an expert that every third token
// chose has to be done within a frame.
void PlacedSteps::move_branch(size_t layer, int32_t branch) {
  BranchShares& shares = shares_[layer][branch];
  add_products(layer, static_cast<size_t>(branch), -1);
  rule_.begin_move(shares_[layer], branch, next_);
  for (const Visit& v : visits_.of(layer, static_cast<size_t>(branch)))
    rule_.move_token(tally_[at(v.step, layer)], routes_->at(v.token, static_cast<int32_t>(layer)),
                     homes_[v.step] ? routes_->tokens[v.token].rank : -1);
  shares.swap(next_);
  add_products(layer, static_cast<size_t>(branch), 1);
}

void PlacedSteps::add_branch(size_t layer, int32_t branch, double sign) {
  add_products(layer, static_cast<size_t>(branch), sign);
  if (!by_token_) return;
  for (const Visit& v : visits_.of(layer, static_cast<size_t>(branch))) {
    add_token(v, layer, sign);
    if (residence_ == Residence::follow && routes_->heaviest(v.token, static_cast<int32_t>(layer)) == branch)
      add_onward(v, layer, sign);
  }
}

void PlacedSteps::add_products(size_t layer, size_t branch, double sign) {
  const size_t branches = placement_.branches;
  const BranchShares& shares = shares_[layer][branch];
  const bool nearest = replicas_ == ReplicaRule::nearest && shares.size() > 1;
  const BranchShares anywhere =
      nearest ? nearest_from_anywhere(shares, count_of_home_.size(), gpus_per_node_) : BranchShares();
  const auto add_step = [&](size_t step, std::span<const Visit> visits) {
    const float count = count_[at(step, layer) * branches + branch];
    if (count <= 0) return;
    LayerTally& tally = tally_[at(step, layer)];
    if (nearest && homes_[step]) {
      // Counted from the visits each time: kept for every step and branch it would be gigabytes on 64 ranks.
      std::fill(count_of_home_.begin(), count_of_home_.end(), 0.);
      for (const Visit& v : visits) {
        const std::span<const int32_t> choices = routes_->at(v.token, static_cast<int32_t>(layer));
        count_of_home_[routes_->tokens[v.token].rank] +=
            static_cast<double>(std::count(choices.begin(), choices.end(), static_cast<int32_t>(branch)));
      }
      rule_.add_products_by_home(tally, shares, count_of_home_, sign);
    } else {
      rule_.add_products(tally, nearest ? anywhere : shares, count, sign);
    }
    if (!by_token_ && backend_ == Backend::per_expert) rule_.add_choices(tally, shares, count, sign);
    touch(step, layer);
  };
  if (!routes_) {
    for (size_t s = 0; s < steps(); ++s) add_step(s, {});
    return;
  }
  const std::span<const Visit> visits = visits_.of(layer, branch);
  for (size_t begin = 0, end = 0; begin < visits.size(); begin = end) {
    while (end < visits.size() && visits[end].step == visits[begin].step) ++end;
    add_step(visits[begin].step, visits.subspan(begin, end - begin));
  }
}

void PlacedSteps::add_token(Visit v, size_t layer, double sign) {
  add_dispatch(v, layer, sign);
  if (residence_ == Residence::follow)
    rule_.add_following(combined_[at(v.step, layer)], shares_[layer], routes_->at(v.token, static_cast<int32_t>(layer)),
                        sign);
}

void PlacedSteps::add_dispatch(Visit v, size_t layer, double sign) {
  LayerTally& tally = tally_[at(v.step, layer)];
  const std::span<const int32_t> choices = routes_->at(v.token, static_cast<int32_t>(layer));
  const int32_t moved = residence_ == Residence::follow ? routes_->moved_at(v.token, static_cast<int32_t>(layer)) : -1;
  if (moved >= 0) {
    for (const BranchShare& s : shares_[moved][routes_->heaviest(v.token, moved)])
      rule_.add_token(tally, shares_[layer], choices, static_cast<int32_t>(s.rank), sign * s.part);
    return;
  }
  rule_.add_token(tally, shares_[layer], choices, homes_[v.step] ? routes_->tokens[v.token].rank : -1, sign);
}

void PlacedSteps::add_onward(Visit v, size_t layer, double sign) {
  if (!routes_->visits(v.token, static_cast<int32_t>(layer))) return;
  for (size_t l = layer + 1; l < shares_.size(); ++l) {
    add_dispatch(v, l, sign);
    touch(v.step, l);
    if (routes_->visits(v.token, static_cast<int32_t>(l))) return;
  }
}

void PlacedSteps::touch(size_t step, size_t layer) {
  const size_t i = at(step, layer);
  if (!std::exchange(is_touched_[i], uint8_t{1})) touched_.push_back(i);
}

LayerWork PlacedSteps::work_of(size_t step, size_t layer) {
  LayerWork work;
  work.ranks = work.combined = rule_.work(tally_[at(step, layer)]);
  work.met = met_[at(step, layer)];
  if (!homes_[step]) work.crowd(rule_.crowding(tokens_[at(step, layer)]), residence_, layer);
  if (residence_ != Residence::follow) return work;
  dispatch_.assign(work.ranks.begin(), work.ranks.end());
  work.ranks = dispatch_, work.combined = rule_.work(combined_[at(step, layer)]);
  return work;
}

void PlacedSteps::cost_touched() {
  for (const size_t i : touched_) {
    const size_t step = i / shares_.size();
    const double cost = work_of(step, i % shares_.size()).cost(model_).seconds();
    const double more = cost - layer_cost_[i];
    layer_cost_[i] = cost;
    step_s_[step] += more, sum_s_ += more;
    is_touched_[i] = 0;
  }
  touched_.clear();
}

}  // namespace stormcell
