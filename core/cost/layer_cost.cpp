#include "core/cost/layer_cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace stormcell {
namespace {

/// Rows below this are what sums leave that were added and taken away again: no message, no product, and no start of
/// one.
constexpr double kNoRows = 1e-9;

/// Seconds of one way: out and in of a port are full duplex, fabric and network run at a time.
double ports_s(const RankWork& r, double row_bytes, const WayCost& way, const HomeCrowding& homes,
               const CostModel& model) {
  double slowest = 0;
  const double fabric = std::max(r.fabric_out * homes.fabric, r.fabric_in),
               network = std::max(r.network_out * homes.network, r.network_in);
  if (fabric > kNoRows) slowest = std::max(slowest, fabric * row_bytes / model.fabric_bytes_per_s * way.fabric_factor);
  if (network > kNoRows)
    slowest = std::max(slowest, network * row_bytes / model.network_bytes_per_s * way.network_factor);
  return slowest;
}

enum class Way : uint8_t { dispatch, combine };

/// Messages are sent one after the other, out and in at the same time.
double messages_s(const RankWork& r, Way to, double row_bytes, const HomeCrowding& homes, const CostModel& model) {
  if (std::max({r.fabric_out, r.fabric_in, r.network_out, r.network_in}) <= kNoRows) return 0;
  const double cost = to == Way::dispatch ? std::max(r.dispatch_out * homes.fabric, r.dispatch_in)
                                          : std::max(r.combine_out, r.combine_in * homes.fabric);
  return cost * row_bytes * model.rank_cost_factor;
}

double exchange_s(std::span<const RankWork> ranks, Way to, const HomeCrowding& homes, const CostModel& model) {
  const double row_bytes = to == Way::dispatch ? model.dispatch_row_bytes : model.combine_row_bytes;
  const WayCost& way = to == Way::dispatch ? model.dispatch : model.combine;
  double slowest = 0;
  for (const RankWork& r : ranks)
    slowest = std::max(slowest, model.rank_cost ? messages_s(r, to, row_bytes, homes, model)
                                                : ports_s(r, row_bytes, way, homes, model));
  if (model.uplink_bytes_per_s > 0)
    for (size_t first = 0; first < ranks.size(); first += model.gpus_per_node) {
      double out = 0, in = 0;
      for (const RankWork& r : ranks.subspan(first, std::min<size_t>(model.gpus_per_node, ranks.size() - first)))
        out += r.network_out, in += r.network_in;
      slowest = std::max(slowest,
                         std::max(out * homes.uplink, in) * row_bytes / model.uplink_bytes_per_s * way.network_factor);
    }
  return slowest > 0 ? slowest + way.t0_s : 0;
}

}  // namespace

double compute_s(const RankWork& rank, const CostModel& model) {
  if (rank.rows <= kNoRows) return 0;
  if (model.expert_curve) return 1e-6 * rank.expert_us * model.expert_factor + model.product_t0_s;
  const double read_s = rank.active * model.branch_bytes / model.memory_bytes_per_s,
               product_s = rank.rows * model.flops_per_row / model.flops_per_s;
  return std::max(read_s, product_s) + model.product_t0_s;
}

LayerCost cost_of_layer(std::span<const RankWork> ranks, const CostModel& model) {
  return cost_of_layer(ranks, ranks, model);
}

LayerCost cost_of_layer(std::span<const RankWork> ranks, std::span<const RankWork> combined, const CostModel& model,
                        const HomeCrowding& there, const HomeCrowding& back) {
  LayerCost cost;
  for (const RankWork& r : ranks) {
    // std::max ignores NaN, so it is checked here.
    if (!std::isfinite(r.active + r.rows + r.expert_us + r.fabric_out + r.fabric_in + r.network_out + r.network_in +
                       r.dispatch_out + r.dispatch_in + r.combine_out + r.combine_in))
      failed("cost of a layer", "the work of a GPU is not finite");
    cost.compute_s = std::max(cost.compute_s, compute_s(r, model));
  }
  cost.dispatch_s = exchange_s(ranks, Way::dispatch, there, model);
  cost.combine_s = exchange_s(combined, Way::combine, back, model);
  return cost;
}

}  // namespace stormcell
