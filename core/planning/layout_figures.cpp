#include "core/planning/layout_figures.h"

#include "core/placement/traffic.h"

namespace stormcell {

std::vector<std::vector<double>> rank_loads(const Placement& placement, const DataSlice& data) {
  if (data.way.rule == ReplicaRule::nearest)
    return data.routes ? rank_loads_of_tokens(*data.routes, data.tokens, placement, data.way)
                       : rank_loads_of_counts(data.loads, placement, data.way);
  std::vector<std::vector<double>> out;
  for (size_t l = 0; l < data.loads.size(); ++l)
    out.push_back(loads_of_ranks(placement.layers[l], placement.ranks, data.loads[l]));
  return out;
}

double mean_imbalance(const Placement& placement, const DataSlice& data) {
  double sum = 0;
  for (const std::vector<double>& ranks : rank_loads(placement, data)) sum += imbalance_of_ranks(ranks);
  return sum / static_cast<double>(data.loads.size());
}

}  // namespace stormcell
