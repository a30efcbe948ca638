#include "core/placement/placed_steps.h"

#include <algorithm>
#include <cmath>

#include "core/placement/step_work.h"

namespace stormcell {

PlacedSteps::PlacedSteps(Placement start, int32_t nodes, Backend backend, const CostModel& model, size_t steps)
    : placement_(std::move(start)),
      backend_(backend),
      model_(model),
      held_(static_cast<size_t>(placement_.slots_of_rank())),
      rule_(placement_.ranks, nodes, backend, model.rank_cost, ReplicaRule::even, model.expert_curve) {
  const size_t layers = placement_.layers.size(), branches = static_cast<size_t>(placement_.branches);
  for (const LayerSlots& layer : placement_.layers) shares_.push_back(shares_of(layer, placement_.branches, placement_.ranks));
  tally_.assign(steps * layers, LayerTally(static_cast<size_t>(placement_.ranks), static_cast<size_t>(nodes)));
  count_.assign(steps * layers * branches, 0);
  homes_.assign(steps, 0);
  layer_cost_.assign(steps * layers, 0), step_s_.assign(steps, 0), is_touched_.assign(steps, 0);
}

PlacedSteps::PlacedSteps(const TokenRoutes& routes, const std::vector<std::vector<size_t>>& steps, Placement start, int32_t nodes,
                         Backend backend, const CostModel& model)
    : PlacedSteps(std::move(start), nodes, backend, model, steps.size()) {
  routes_ = &routes;
  for (size_t s = 0; s < steps.size(); ++s) homes_[s] = homes_known(routes, steps[s], placement_.ranks);
  // Copies for each expert of tokens that live anywhere follow from counts, and what goes everywhere from nothing.
  const bool anywhere = std::none_of(homes_.begin(), homes_.end(), [](uint8_t known) { return known != 0; });
  by_token_ = backend != Backend::gather && !(backend == Backend::per_expert && anywhere);
  const size_t layers = shares_.size(), branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t l = 0; l < layers; ++l)
      for (const size_t t : steps[s]) {
        const std::span<const int32_t> choices = routes.at(t, static_cast<int32_t>(l));
        for (const int32_t choice : choices)
          if (choice >= 0) ++count_[at(s, l) * branches + static_cast<size_t>(choice)];
        if (backend == Backend::gather || by_token_)
          rule_.add_token(tally_[at(s, l)], shares_[l], choices, homes_[s] ? routes.tokens[t].rank : -1, 1);
      }
  if (!by_token_ && backend == Backend::per_expert)
    for (size_t i = 0; i < tally_.size(); ++i)
      for (size_t b = 0; b < branches; ++b) rule_.add_choices(tally_[i], shares_[i % layers][b], count_[i * branches + b], 1);
  index(routes, steps);
  begin();
}

PlacedSteps::PlacedSteps(const std::vector<std::vector<std::vector<double>>>& steps, double k, Placement start, int32_t nodes,
                         Backend backend, const CostModel& model)
    : PlacedSteps(std::move(start), nodes, backend, model, steps.size()) {
  const size_t layers = shares_.size(), branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps.size(); ++s)
    for (size_t l = 0; l < layers; ++l) {
      double all = 0;
      for (size_t b = 0; b < branches; ++b) {
        const double count = steps[s][l][b];
        count_[at(s, l) * branches + b] = static_cast<float>(count);
        all += count;
        if (backend == Backend::per_expert) rule_.add_choices(tally_[at(s, l)], shares_[l][b], static_cast<float>(count), 1);
      }
      if (backend == Backend::gather) rule_.add_everywhere(tally_[at(s, l)], all / k);
    }
  begin();
}

void PlacedSteps::index(const TokenRoutes& routes, const std::vector<std::vector<size_t>>& steps) {
  const size_t layers = shares_.size(), branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps.size(); ++s)
    for (const size_t t : steps[s]) members_.push_back({static_cast<uint32_t>(s), static_cast<uint32_t>(t)});
  begin_.assign(layers * branches + 1, 0);
  const auto for_each = [&](const auto& visit) {
    for (size_t s = 0; s < steps.size(); ++s)
      for (const size_t t : steps[s])
        for (size_t l = 0; l < layers; ++l)
          for (const int32_t choice : routes.at(t, static_cast<int32_t>(l)))
            if (choice >= 0) visit(l * branches + static_cast<size_t>(choice), Visit{static_cast<uint32_t>(s), static_cast<uint32_t>(t)});
  };
  for_each([&](size_t of, Visit) { ++begin_[of + 1]; });
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  visits_.resize(begin_.back());
  std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
  for_each([&](size_t of, Visit v) { visits_[next[of]++] = v; });
}

void PlacedSteps::begin() {
  const size_t branches = static_cast<size_t>(placement_.branches);
  for (size_t i = 0; i < tally_.size(); ++i)
    for (size_t b = 0; b < branches; ++b) rule_.add_products(tally_[i], shares_[i % shares_.size()][b], count_[i * branches + b], 1);
  for (size_t l = 0; l < shares_.size(); ++l) {
    for (size_t s = 0; s < steps(); ++s) touched_.push_back(static_cast<uint32_t>(s)), is_touched_[s] = 1;
    cost_touched(l);
  }
}

double PlacedSteps::mean_s() const { return sum_s_ / static_cast<double>(steps()); }

double PlacedSteps::p95_s() const {
  sorted_ = step_s_;
  const auto nth = sorted_.begin() + static_cast<std::ptrdiff_t>(std::ceil(0.95 * static_cast<double>(sorted_.size()))) - 1;
  std::nth_element(sorted_.begin(), nth, sorted_.end());
  return *nth;
}

double PlacedSteps::layer_s(size_t layer) const {
  double sum = 0;
  for (size_t s = 0; s < steps(); ++s) sum += layer_cost_[at(s, layer)];
  return sum / static_cast<double>(steps());
}

size_t PlacedSteps::slowest_rank(size_t step, size_t layer) {
  const std::span<const RankWork> work = rule_.work(tally_[at(step, layer)]);
  size_t slowest = 0;
  double most = 0;
  for (size_t r = 0; r < work.size(); ++r) {
    const double alone = cost_of_layer(work.subspan(r, 1), model_).seconds();
    if (alone > most) most = alone, slowest = r;
  }
  return slowest;
}

bool PlacedSteps::holds(size_t layer, size_t rank, int32_t branch) const {
  const BranchShares& shares = shares_[layer][static_cast<size_t>(branch)];
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
  cost_touched(layer);
}

void PlacedSteps::move(size_t layer, size_t from, size_t to) {
  LayerSlots& slots = placement_.layers[layer];
  const int32_t old = slots[to];
  slots[to] = slots[from], slots[from] = -1;
  renew(layer, slots[to]), renew(layer, old);
  cost_touched(layer);
}

void PlacedSteps::replicate(size_t layer, int32_t branch, size_t slot) {
  const int32_t old = placement_.layers[layer][slot];
  placement_.layers[layer][slot] = branch;
  renew(layer, old), renew(layer, branch);
  cost_touched(layer);
}

void PlacedSteps::drop(size_t layer, size_t slot) { replicate(layer, -1, slot); }

void PlacedSteps::apply(std::span<const SlotChange> changes) {
  if (changes.empty()) return;
  const size_t layer = changes.front().layer;
  for (const SlotChange& c : changes) placement_.layers[layer][c.slot] = c.after;
  if (by_token_ && changes.size() * static_cast<size_t>(routes_->k) > static_cast<size_t>(placement_.branches)) return rebuild(layer);
  // A branch that stands as before costs a look at the slots.
  for (const SlotChange& c : changes) renew(layer, c.before), renew(layer, c.after);
  cost_touched(layer);
}

void PlacedSteps::set_layer(size_t layer, const LayerSlots& slots) {
  placement_.layers[layer] = slots;
  for (int32_t b = 0; b < placement_.branches; ++b) renew(layer, b);
  cost_touched(layer);
}

void PlacedSteps::rebuild(size_t layer) {
  shares_[layer] = shares_of(placement_.layers[layer], placement_.branches, placement_.ranks);
  const size_t branches = static_cast<size_t>(placement_.branches);
  for (size_t s = 0; s < steps(); ++s) {
    LayerTally& tally = tally_[at(s, layer)];
    tally = LayerTally(tally.work.size(), tally.unknown_node.size());
    for (size_t b = 0; b < branches; ++b) rule_.add_products(tally, shares_[layer][b], count_[at(s, layer) * branches + b], 1);
    touched_.push_back(static_cast<uint32_t>(s));
  }
  for (const Visit& v : members_)
    rule_.add_token(tally_[at(v.step, layer)], shares_[layer], routes_->at(v.token, static_cast<int32_t>(layer)),
                    homes_[v.step] ? routes_->tokens[v.token].rank : -1, 1);
  cost_touched(layer);
}

// One branch after the other: a token that chose several is taken away as it stands by then and added as it is from then on.
void PlacedSteps::renew(size_t layer, int32_t branch) {
  if (branch < 0) return;
  find_shares(placement_.layers[layer], branch, placement_.ranks, next_);
  BranchShares& shares = shares_[layer][static_cast<size_t>(branch)];
  if (next_ == shares) return;
  add_branch(layer, branch, -1);
  shares.swap(next_);
  add_branch(layer, branch, 1);
}

void PlacedSteps::add_branch(size_t layer, int32_t branch, double sign) {
  const size_t branches = static_cast<size_t>(placement_.branches), b = static_cast<size_t>(branch);
  const BranchShares& shares = shares_[layer][b];
  const auto add_count = [&](size_t step) {
    const float count = count_[at(step, layer) * branches + b];
    if (count <= 0) return;
    LayerTally& tally = tally_[at(step, layer)];
    rule_.add_products(tally, shares, count, sign);
    if (!by_token_ && backend_ == Backend::per_expert) rule_.add_choices(tally, shares, count, sign);
    if (!is_touched_[step]) is_touched_[step] = 1, touched_.push_back(static_cast<uint32_t>(step));
  };
  if (!routes_) {
    for (size_t s = 0; s < steps(); ++s) add_count(s);
    return;
  }
  const size_t of = layer * branches + b;
  for (size_t i = begin_[of]; i < begin_[of + 1]; ++i) {
    const Visit v = visits_[i];
    if (i == begin_[of] || v.step != visits_[i - 1].step) add_count(v.step);
    if (by_token_)
      rule_.add_token(tally_[at(v.step, layer)], shares_[layer], routes_->at(v.token, static_cast<int32_t>(layer)),
                      homes_[v.step] ? routes_->tokens[v.token].rank : -1, sign);
  }
}

void PlacedSteps::cost_touched(size_t layer) {
  for (const uint32_t step : touched_) {
    const double cost = cost_of_layer(rule_.work(tally_[at(step, layer)]), model_).seconds();
    const double more = cost - layer_cost_[at(step, layer)];
    layer_cost_[at(step, layer)] = cost;
    step_s_[step] += more, sum_s_ += more;
    is_touched_[step] = 0;
  }
  touched_.clear();
}

}  // namespace stormcell
