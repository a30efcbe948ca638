#include "core/placement/eplb.h"

#include <algorithm>
#include <numeric>

namespace stormcell {
namespace {

/// The place of a packed item: its pack, and its place there in the order of arrival.
struct Packed {
  int32_t pack = 0, place = 0;
};

/// Packs equally many items into each pack: the heaviest first, each to the lightest pack that has room.
std::vector<Packed> pack_evenly(const std::vector<float>& weights, int32_t packs) {
  const size_t items_per_pack = weights.size() / static_cast<size_t>(packs);
  std::vector<Packed> out(weights.size());
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (items_per_pack == 1) {  // the rule leaves them where they are
    for (const size_t i : order) out[i] = {static_cast<int32_t>(i), 0};
    return out;
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<float> load(packs);
  std::vector<int32_t> items(packs);
  for (const size_t i : order) {
    size_t best = load.size();
    for (size_t p = 0; p < load.size(); ++p)
      if (static_cast<size_t>(items[p]) < items_per_pack && (best == load.size() || load[p] < load[best])) best = p;
    out[i] = {static_cast<int32_t>(best), items[best]++};
    load[best] += weights[i];
  }
  return out;
}

struct Replicated {
  std::vector<int32_t> branch;  ///< [slots]
  std::vector<float> count;     ///< [branches] replicas of each
};

/// Each further slot to the branch with the most load a replica.
Replicated replicate(const std::vector<float>& weights, size_t slots) {
  Replicated out;
  out.branch.resize(weights.size());
  std::iota(out.branch.begin(), out.branch.end(), 0);
  out.count.assign(weights.size(), 1);
  while (out.branch.size() < slots) {
    size_t most = 0;
    for (size_t i = 1; i < weights.size(); ++i)
      if (weights[i] / out.count[i] > weights[most] / out.count[most]) most = i;
    out.branch.push_back(static_cast<int32_t>(most));
    ++out.count[most];
  }
  return out;
}

/// [branches] in the order in which nodes hold them: groups stay whole.
std::vector<int32_t> order_by_node(const std::vector<float>& load, int32_t groups, int32_t nodes) {
  const size_t size = load.size() / static_cast<size_t>(groups), groups_a_node = static_cast<size_t>(groups / nodes);
  std::vector<float> of_group(groups);
  for (size_t g = 0; g < of_group.size(); ++g)
    for (size_t i = 0; i < size; ++i) of_group[g] += load[g * size + i];
  const std::vector<Packed> packed = pack_evenly(of_group, nodes);
  std::vector<int32_t> order(load.size());
  for (size_t g = 0; g < of_group.size(); ++g)
    for (size_t i = 0; i < size; ++i)
      order[(packed[g].pack * groups_a_node + packed[g].place) * size + i] = static_cast<int32_t>(g * size + i);
  return order;
}

LayerSlots place_layer(const std::vector<float>& load, const EplbShape& shape) {
  const int32_t groups = shape.hierarchical() ? shape.groups : 1, nodes = shape.hierarchical() ? shape.nodes : 1;
  const std::vector<int32_t> order = order_by_node(load, groups, nodes);
  const size_t branches = load.size() / static_cast<size_t>(nodes),
               slots = static_cast<size_t>(shape.slot_count / nodes);
  const size_t slots_per_rank = shape.slot_count / shape.ranks;
  LayerSlots out(shape.slot_count);
  for (size_t node = 0; node < static_cast<size_t>(nodes); ++node) {
    std::vector<float> here(branches);
    for (size_t i = 0; i < branches; ++i) here[i] = load[order[node * branches + i]];
    const Replicated replicas = replicate(here, slots);
    std::vector<float> of_slot(slots);
    for (size_t s = 0; s < slots; ++s) {
      const size_t b = replicas.branch[s];
      of_slot[s] = here[b] / replicas.count[b];
    }
    const std::vector<Packed> packed = pack_evenly(of_slot, shape.ranks / nodes);
    for (size_t s = 0; s < slots; ++s)
      out[node * slots + packed[s].pack * slots_per_rank + packed[s].place] =
          order[node * branches + replicas.branch[s]];
  }
  return out;
}

std::string does_not_divide(int32_t what, const char* name, int32_t by, const char* by_name) {
  return std::to_string(what) + " " + name + " do not divide among " + std::to_string(by) + " " + by_name;
}

}  // namespace

std::string eplb_fault(const EplbShape& s, int32_t branches) {
  if (s.nodes < 1 || s.ranks < 1 || s.groups < 1) return "there are no nodes, ranks or groups";
  if (s.slot_count < branches)
    return std::to_string(s.slot_count) + " slots do not hold " + std::to_string(branches) + " branches";
  if (s.slot_count % s.ranks) return does_not_divide(s.slot_count, "slots", s.ranks, "ranks");
  if (s.ranks % s.nodes) return does_not_divide(s.ranks, "ranks", s.nodes, "nodes");
  if (branches % s.groups) return does_not_divide(branches, "branches", s.groups, "groups");
  return {};
}

Placement eplb_placement(const LayerLoads& loads, const EplbShape& shape) {
  Placement out;
  out.ranks = shape.ranks;
  out.branches = loads.empty() ? 1 : static_cast<int32_t>(loads[0].size());
  for (const std::vector<double>& load : loads)
    out.layers.push_back(place_layer(std::vector<float>(load.begin(), load.end()), shape));
  return out;
}

}  // namespace stormcell
