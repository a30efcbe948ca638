#include "core/placement/placement_edit.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stormcell {
namespace {

/// Branches that a change of one layer moves, each once.
std::vector<int32_t> moved_branches(std::span<const SlotChange> changes) {
  std::vector<int32_t> branches;
  for (const SlotChange& c : changes)
    for (const int32_t b : {c.before, c.after})
      if (b >= 0) branches.push_back(b);
  std::sort(branches.begin(), branches.end());
  branches.erase(std::unique(branches.begin(), branches.end()), branches.end());
  return branches;
}

std::string expert(int32_t branch) { return "expert " + std::to_string(branch); }
std::string gpu(size_t rank) { return "GPU " + std::to_string(rank); }

}  // namespace

PlacementEdit::PlacementEdit(Placement start, std::vector<EditPart> parts, const ReplicaWay& way)
    : placement_(std::move(start)), way_(way), parts_(std::move(parts)), state_(parts_.size()) {
  const size_t layers = placement_.layers.size();
  for (size_t p = 0; p < parts_.size(); ++p) {
    state_[p].imbalance.assign(layers, 0), state_[p].ranks.resize(layers), state_[p].slot_loads.resize(layers);
    for (size_t l = 0; l < layers; ++l) weigh(p, l);
  }
}

// The layer from its slots, and not by what moved: sums that go up and down for an hour would drift.
void PlacementEdit::weigh(size_t part, size_t layer) {
  State& state = state_[part];
  const std::vector<double>& load = parts_[part].loads[layer];
  const LayerSlots& slots = placement_.layers[layer];
  std::vector<int32_t> replicas(load.size());
  for (const int32_t b : slots)
    if (b >= 0) ++replicas[b];
  std::vector<double>&ranks = state.ranks[layer], &of_slot = state.slot_loads[layer];
  ranks.assign(placement_.ranks, 0), of_slot.assign(slots.size(), 0);
  for (size_t s = 0; s < slots.size(); ++s)
    if (slots[s] >= 0) of_slot[s] = load[slots[s]] / replicas[slots[s]];
  if (way_.rule == ReplicaRule::nearest) weigh_nearest(part, layer, replicas, of_slot);
  for (size_t s = 0; s < slots.size(); ++s) ranks[rank_of(s)] += of_slot[s];
  state.imbalance[layer] = imbalance_of_ranks(ranks);
}

// Looks at branches with replicas alone: all others get their whole load in one slot.
void PlacementEdit::weigh_nearest(size_t part, size_t layer, const std::vector<int32_t>& replicas,
                                  std::vector<double>& of_slot) const {
  const LayerSlots& slots = placement_.layers[layer];
  const auto ranks = static_cast<size_t>(placement_.ranks), gpus_per_node = ranks / static_cast<size_t>(way_.nodes);
  const std::vector<BranchShares> shares = shares_of(slots, placement_.branches, placement_.ranks);
  std::vector<double> of_rank(ranks);
  BranchShares near;
  for (size_t b = 0; b < shares.size(); ++b) {
    if (replicas[b] < 2) continue;
    double anywhere = parts_[part].loads[layer][b];
    std::fill(of_rank.begin(), of_rank.end(), 0.);
    for (size_t home = 0; home < ranks && !parts_[part].loads_of_home.empty(); ++home) {
      const double here = parts_[part].loads_of_home[layer][b * ranks + home];
      if (here == 0) continue;
      anywhere -= here;
      find_nearest(shares[b], home, gpus_per_node, near);
      for (const BranchShare& s : near) of_rank[s.rank] += here * s.part;
    }
    for (const BranchShare& s : nearest_from_anywhere(shares[b], ranks, gpus_per_node))
      of_rank[s.rank] += anywhere * s.part;
    // shares_of() has of each rank how many of the branch's slots it holds.
    for (size_t s = 0; s < slots.size(); ++s) {
      if (slots[s] != static_cast<int32_t>(b)) continue;
      const auto own =
          std::find_if(shares[b].begin(), shares[b].end(), [&](const BranchShare& x) { return x.rank == rank_of(s); });
      of_slot[s] = of_rank[rank_of(s)] / (own->part * replicas[b]);
    }
  }
}

EditFigures PlacementEdit::figures(size_t part) const {
  const EditPart& p = parts_[part];
  EditFigures f;
  for (const double of_layer : state_[part].imbalance) f.imbalance += of_layer;
  f.imbalance /= static_cast<double>(std::max<size_t>(state_[part].imbalance.size(), 1));
  if (p.traffic) {
    const Traffic traffic = p.traffic->traffic();
    f.cross_pairs = traffic.cross_pairs, f.ranks_per_token = traffic.ranks_per_token;
  }
  if (p.steps && p.steps->steps() > 0) f.step_ms = p.steps->mean_s() * 1e3, f.p95_ms = p.steps->p95_s() * 1e3;
  return f;
}

std::optional<double> PlacementEdit::layer_ms(size_t part, size_t layer) const {
  const std::optional<PlacedSteps>& steps = parts_[part].steps;
  return steps && steps->steps() > 0 ? std::optional(steps->layer_s(layer) * 1e3) : std::nullopt;
}

bool PlacementEdit::holds(size_t layer, size_t rank, int32_t branch) const {
  const size_t slots_per_rank = placement_.slots_of_rank();
  const auto begin = placement_.layers[layer].begin() + rank * slots_per_rank;
  return std::find(begin, begin + static_cast<std::ptrdiff_t>(slots_per_rank), branch) !=
         begin + static_cast<std::ptrdiff_t>(slots_per_rank);
}

bool PlacementEdit::stands_elsewhere(size_t layer, size_t slot) const {
  const LayerSlots& slots = placement_.layers[layer];
  return std::count(slots.begin(), slots.end(), slots[slot]) > 1;
}

std::string PlacementEdit::swap_fault(size_t layer, size_t slot, size_t other) const {
  const int32_t a = placement_.layers[layer][slot], b = placement_.layers[layer][other];
  const size_t x = rank_of(slot), y = rank_of(other);
  if (x == y) return "both slots are on " + gpu(x) + ": nothing would change";
  if (a == b) return a < 0 ? "both slots are empty" : "both slots hold " + expert(a);
  if (a >= 0 && holds(layer, y, a)) return expert(a) + " is on " + gpu(y) + " already";
  if (b >= 0 && holds(layer, x, b)) return expert(b) + " is on " + gpu(x) + " already";
  return {};
}

std::string PlacementEdit::replicate_fault(size_t layer, int32_t branch, size_t slot) const {
  if (holds(layer, rank_of(slot), branch)) return expert(branch) + " is on " + gpu(rank_of(slot)) + " already";
  const int32_t old = placement_.layers[layer][slot];
  if (old >= 0 && !stands_elsewhere(layer, slot)) return expert(old) + " has no other slot and would be on no GPU";
  return {};
}

std::string PlacementEdit::drop_fault(size_t layer, size_t slot) const {
  const int32_t old = placement_.layers[layer][slot];
  if (old < 0) return "the slot is empty";
  return stands_elsewhere(layer, slot) ? std::string() : expert(old) + " has no other slot and would be on no GPU";
}

void PlacementEdit::apply(const PlacementChange& change) {
  const bool much = change.size() > static_cast<size_t>(placement_.slot_count());
  for (size_t begin = 0; begin < change.size();) {
    const size_t layer = change[begin].layer;
    size_t end = begin;
    while (end < change.size() && change[end].layer == layer) ++end;
    const std::span of_layer(change.data() + begin, end - begin);
    for (const SlotChange& c : of_layer) placement_.layers[layer][c.slot] = c.after;
    const std::vector<int32_t> branches = moved_branches(of_layer);
    for (size_t p = 0; p < parts_.size(); ++p) {
      weigh(p, layer);
      if (parts_[p].traffic && !much) parts_[p].traffic->follow(layer, placement_.layers[layer], branches);
      if (parts_[p].steps) parts_[p].steps->apply(of_layer);
    }
    begin = end;
  }
  for (EditPart& part : parts_)
    if (part.traffic && much) part.traffic->restart(placement_);
}

size_t PlacementEdit::empty_slots() const {
  size_t empty = 0;
  for (const LayerSlots& layer : placement_.layers)
    empty += static_cast<size_t>(std::count(layer.begin(), layer.end(), -1));
  return empty;
}

}  // namespace stormcell
