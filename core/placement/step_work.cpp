#include "core/placement/step_work.h"

#include <algorithm>
#include <cmath>

namespace stormcell {

StepWork::StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model)
    : placement_(placement),
      backend_(backend),
      model_(model),
      ranks_(static_cast<size_t>(placement.ranks)),
      each_(static_cast<size_t>(placement.ranks / nodes)),
      work_(ranks_),
      count_(static_cast<size_t>(placement.branches)),
      unknown_(ranks_),
      unknown_node_(static_cast<size_t>(nodes)),
      copies_(ranks_),
      absent_(ranks_, 1),
      absent_node_(static_cast<size_t>(nodes), 1) {
  const auto slots = static_cast<size_t>(placement.slots_of_rank());
  for (const LayerSlots& layer : placement.layers) {
    const std::vector<int32_t> replicas = replicas_of(layer, placement.branches);
    auto& shares = shares_.emplace_back(static_cast<size_t>(placement.branches));
    for (size_t s = 0; s < layer.size(); ++s) {
      const auto branch = static_cast<size_t>(layer[s]);
      std::vector<Share>& of_branch = shares[branch];  // by rank: slots ascend; two replicas on one rank are one
      if (of_branch.empty() || of_branch.back().rank != s / slots) of_branch.push_back({s / slots, 0});
      of_branch.back().part += 1. / replicas[branch];
    }
  }
}

StepCost StepWork::of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens) {
  const auto at_home = [&](size_t t) { return routes.tokens[t].rank >= 0 && static_cast<size_t>(routes.tokens[t].rank) < ranks_; };
  const bool homes = std::all_of(tokens.begin(), tokens.end(), at_home);
  StepCost step;
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    for (const size_t t : tokens) add_token(l, routes.at(t, static_cast<int32_t>(l)), homes ? routes.tokens[t].rank : -1);
    spread_homes();
    add_products(l);
    end_layer(step);
  }
  return step;
}

StepCost StepWork::of_loads(const std::vector<std::vector<double>>& loads, double k) {
  StepCost step;
  for (size_t l = 0; l < placement_.layers.size(); ++l) {
    begin_layer();
    count_ = loads[l];
    double all = 0;
    for (size_t b = 0; b < count_.size(); ++b) {
      all += count_[b];
      if (backend_ == Backend::gather) continue;
      for (const Share& s : shares_[l][b]) add_remote(s.rank, count_[b] * s.part, -1);
    }
    visits_ = all / k;
    const auto ranks = static_cast<double>(ranks_);
    delivered_ = backend_ == Backend::gather ? visits_ * (ranks - 1) : all * (ranks - 1) / ranks;
    if (backend_ == Backend::gather) add_everywhere(-1, visits_);
    spread_homes();
    add_products(l);
    end_layer(step);
  }
  return step;
}

void StepWork::begin_layer() {
  std::fill(work_.begin(), work_.end(), RankWork{});
  std::fill(count_.begin(), count_.end(), 0.);
  std::fill(unknown_.begin(), unknown_.end(), 0.);
  std::fill(unknown_node_.begin(), unknown_node_.end(), 0.);
  unknown_tokens_ = visits_ = delivered_ = 0;
}

void StepWork::add_token(size_t layer, std::span<const int32_t> choices, int32_t home) {
  touched_.clear(), touched_nodes_.clear();
  for (const int32_t choice : choices) {
    if (choice < 0) continue;
    ++count_[static_cast<size_t>(choice)];
    for (const Share& s : shares_[layer][static_cast<size_t>(choice)]) {
      if (copies_[s.rank] == 0) touched_.push_back(s.rank);
      copies_[s.rank] += s.part;
      absent_[s.rank] *= 1 - s.part;
    }
    if (backend_ != Backend::per_node) continue;
    // Of a branch with several replicas on a node the node gets what they get together.
    const auto& shares = shares_[layer][static_cast<size_t>(choice)];
    for (size_t i = 0; i < shares.size();) {
      const size_t n = node(shares[i].rank);
      double part = 0;
      for (; i < shares.size() && node(shares[i].rank) == n; ++i) part += shares[i].part;
      if (std::find(touched_nodes_.begin(), touched_nodes_.end(), n) == touched_nodes_.end()) touched_nodes_.push_back(n);
      absent_node_[n] *= 1 - part;
    }
  }
  if (touched_.empty()) return;
  ++visits_;
  count_delivered(home);
  if (backend_ == Backend::gather) {
    add_everywhere(home, 1);
  } else if (backend_ == Backend::per_node) {
    add_by_node(home);
  } else {
    for (const size_t r : touched_) add_remote(r, backend_ == Backend::per_expert ? copies_[r] : 1 - absent_[r], home);
  }
  for (const size_t r : touched_) copies_[r] = 0, absent_[r] = 1;
  for (const size_t n : touched_nodes_) absent_node_[n] = 1;
}

void StepWork::count_delivered(int32_t home) {
  if (backend_ == Backend::gather) {
    delivered_ += static_cast<double>(ranks_ - 1);
    return;
  }
  for (const size_t r : touched_) {
    const double rows = backend_ == Backend::per_expert ? copies_[r] : 1 - absent_[r], all = static_cast<double>(ranks_);
    delivered_ += home < 0 ? rows * (all - 1) / all : static_cast<size_t>(home) == r ? 0 : rows;
  }
}

void StepWork::add_remote(size_t rank, double rows, int32_t home) {
  if (home < 0) {
    unknown_[rank] += rows;
    return;
  }
  const auto from = static_cast<size_t>(home);
  if (from == rank) return;
  if (node(from) == node(rank))
    work_[from].fabric_out += rows, work_[rank].fabric_in += rows;
  else
    work_[from].network_out += rows, work_[rank].network_in += rows;
}

// Over the network to the GPU of the same place in the other node, from there to the others.
void StepWork::add_by_node(int32_t home) {
  if (home < 0) {
    for (const size_t r : touched_) unknown_[r] += 1 - absent_[r];
    for (const size_t n : touched_nodes_) unknown_node_[n] += 1 - absent_node_[n];
    return;
  }
  const auto from = static_cast<size_t>(home);
  for (const size_t n : touched_nodes_)
    if (n != node(from)) work_[from].network_out += 1 - absent_node_[n], work_[n * each_ + from % each_].network_in += 1 - absent_node_[n];
  for (const size_t r : touched_) {
    const size_t relay = node(r) * each_ + from % each_;
    if (r != relay) work_[relay].fabric_out += 1 - absent_[r], work_[r].fabric_in += 1 - absent_[r];
  }
}

void StepWork::add_everywhere(int32_t home, double tokens) {
  if (home < 0) {
    unknown_tokens_ += tokens;
    return;
  }
  for (size_t r = 0; r < ranks_; ++r) add_remote(r, tokens, home);
}

// Tokens that may live anywhere: each rank is the home of an equal share, so of what comes to a rank 1 / ranks is there already.
void StepWork::spread_homes() {
  const auto g = static_cast<double>(each_), all = static_cast<double>(ranks_);
  if (unknown_tokens_ > 0)
    for (double& rows : unknown_) rows += unknown_tokens_;
  double sum = 0;
  std::vector<double> of_node(unknown_node_.size());
  for (size_t r = 0; r < ranks_; ++r) sum += unknown_[r], of_node[node(r)] += unknown_[r];
  if (sum == 0) return;
  if (backend_ != Backend::per_node) {
    for (size_t r = 0; r < ranks_; ++r) {
      work_[r].fabric_in += unknown_[r] * (g - 1) / all, work_[r].network_in += unknown_[r] * (all - g) / all;
      work_[r].fabric_out += (of_node[node(r)] - unknown_[r]) / all, work_[r].network_out += (sum - of_node[node(r)]) / all;
    }
    return;
  }
  double nodes_sum = 0;
  for (const double rows : unknown_node_) nodes_sum += rows;
  for (size_t r = 0; r < ranks_; ++r) {
    const size_t n = node(r);
    work_[r].network_in += unknown_node_[n] * (all - g) / all / g, work_[r].network_out += (nodes_sum - unknown_node_[n]) / all;
    work_[r].fabric_in += unknown_[r] * (g - 1) / g, work_[r].fabric_out += (of_node[n] - unknown_[r]) / g;
  }
}

void StepWork::add_products(size_t layer) {
  for (size_t b = 0; b < count_.size(); ++b) {
    if (count_[b] <= 0) continue;
    for (const Share& s : shares_[layer][b]) {
      const double rows = count_[b] * s.part;
      // Whole tokens that go to one of several replicas, or a share of a token: the chance that none comes.
      work_[s.rank].active += s.part == 1 ? (count_[b] >= 1 ? 1 : count_[b]) : 1 - std::pow(1 - s.part, count_[b]);
      work_[s.rank].rows += std::ceil(rows / kRowTile - 1e-9) * kRowTile;
    }
  }
}

void StepWork::end_layer(StepCost& step) {
  const LayerCost layer = cost_of_layer(work_, model_);
  step.cost.dispatch_s += layer.dispatch_s, step.cost.compute_s += layer.compute_s, step.cost.combine_s += layer.combine_s;
  step.visits += visits_;
  for (const RankWork& r : work_) step.network_rows += r.network_out, step.fabric_rows += r.fabric_out;
  step.delivered_rows += delivered_;
}

}  // namespace stormcell
