#include "core/placement/placement.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/rounding.h"

namespace stormcell {
namespace {

/// The slots of one rank.
std::span<const int32_t> on_rank(const LayerSlots& layer, int32_t ranks, int32_t rank) {
  const size_t slots_per_rank = layer.size() / static_cast<size_t>(ranks);
  return std::span(layer).subspan(rank * slots_per_rank, slots_per_rank);
}

}  // namespace

PlacementChange inverse(PlacementChange change) {
  for (SlotChange& c : change) std::swap(c.before, c.after);
  return change;
}

PlacementChange swap_change(const Placement& p, size_t layer, size_t slot, size_t other) {
  const int32_t a = p.layers[layer][slot], b = p.layers[layer][other];
  return {{layer, slot, a, b}, {layer, other, b, a}};
}

PlacementChange replicate_change(const Placement& p, size_t layer, int32_t branch, size_t slot) {
  return {{layer, slot, p.layers[layer][slot], branch}};
}

PlacementChange drop_change(const Placement& p, size_t layer, size_t slot) {
  return replicate_change(p, layer, -1, slot);
}

PlacementChange difference(const Placement& before, const Placement& after) {
  PlacementChange change;
  for (size_t l = 0; l < after.layers.size(); ++l)
    for (size_t s = 0; s < after.layers[l].size(); ++s)
      if (before.layers[l][s] != after.layers[l][s]) change.push_back({l, s, before.layers[l][s], after.layers[l][s]});
  return change;
}

std::string placement_fault(const Placement& p) {
  if (p.ranks < 1 || p.branches < 1) return "it has no ranks or no branches";
  if (p.layers.empty()) return "it has no layers";
  for (size_t l = 0; l < p.layers.size(); ++l) {
    const LayerSlots& slots = p.layers[l];
    const std::string layer = "layer " + std::to_string(l);
    if (slots.size() != p.layers[0].size())
      return layer + " has " + std::to_string(slots.size()) + " slots, layer 0 has " +
             std::to_string(p.layers[0].size());
    if (slots.empty() || slots.size() % static_cast<size_t>(p.ranks))
      return layer + ": " + std::to_string(slots.size()) + " slots do not divide among " + std::to_string(p.ranks) +
             " ranks";
    std::vector<bool> seen(p.branches);
    for (const int32_t branch : slots) {
      if (branch < 0 || branch >= p.branches)
        return layer + " names branch " + std::to_string(branch) + ", there are 0 to " + std::to_string(p.branches - 1);
      seen[branch] = true;
    }
    if (const auto lost = std::find(seen.begin(), seen.end(), false); lost != seen.end())
      return layer + " lacks branch " + std::to_string(lost - seen.begin());
  }
  return {};
}

Placement contiguous_placement(size_t layers, int32_t branches, int32_t slot_count, int32_t ranks) {
  LayerSlots layer(slot_count);
  for (size_t s = 0; s < layer.size(); ++s) layer[s] = static_cast<int32_t>(s) % branches;
  return {ranks, branches, std::vector<LayerSlots>(layers, layer)};
}

std::vector<int32_t> replicas_of(const LayerSlots& layer, int32_t branches) {
  std::vector<int32_t> count(branches);
  for (const int32_t branch : layer) ++count[branch];
  return count;
}

std::vector<double> loads_of_ranks(const LayerSlots& layer, int32_t ranks, std::span<const double> load) {
  const std::vector<int32_t> replicas = replicas_of(layer, static_cast<int32_t>(load.size()));
  std::vector<double> out(ranks);
  for (int32_t rank = 0; rank < ranks; ++rank)
    for (const int32_t branch : on_rank(layer, ranks, rank)) out[rank] += load[branch] / replicas[branch];
  return out;
}

double imbalance_of(double most, double mean) { return mean > 0 ? without_rounding(most / mean - 1) : 0; }

double imbalance_of_ranks(std::span<const double> loads) {
  double sum = 0, most = 0;
  for (const double load : loads) sum += load, most = std::max(most, load);
  return imbalance_of(most * static_cast<double>(loads.size()), sum);
}

int32_t layers_with_idle_replicas(const Placement& p) {
  int32_t layers = 0;
  for (const LayerSlots& slots : p.layers) {
    bool idle = false;
    for (int32_t rank = 0; rank < p.ranks && !idle; ++rank) {
      const std::span<const int32_t> here = on_rank(slots, p.ranks, rank);
      idle = std::set<int32_t>(here.begin(), here.end()).size() < here.size();
    }
    layers += idle;
  }
  return layers;
}

int64_t moved_slots(const Placement& before, const Placement& after) {
  int64_t moved = 0;
  for (size_t l = 0; l < after.layers.size(); ++l) {
    if (before.layers[l] == after.layers[l]) continue;
    for (int32_t rank = 0; rank < after.ranks; ++rank) {
      const std::span<const int32_t> old = on_rank(before.layers[l], before.ranks, rank);
      std::multiset<int32_t> left(old.begin(), old.end());
      for (const int32_t branch : on_rank(after.layers[l], after.ranks, rank)) {
        if (branch < 0) continue;
        const auto at = left.find(branch);
        at == left.end() ? static_cast<void>(++moved) : static_cast<void>(left.erase(at));
      }
    }
  }
  return moved;
}

}  // namespace stormcell
