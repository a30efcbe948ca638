// The cost of a layer of experts spread over ranks, in closed form: dispatch, the slowest rank's products, combine. No
// queues, no overlap: monotone in every rate, exact on a network whose links meet no others'.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/cost/row_curve.h"

namespace stormcell {

/// The way in which tokens reach the ranks of their experts.
enum class Backend : uint8_t {
  per_expert,  ///< a copy for each choice, even of two experts on one rank
  per_rank,    ///< a copy for each distinct rank
  per_node,    ///< a copy for each distinct node over the network, within the node one for each distinct rank
  gather,      ///< every token to every rank, whatever it chose
};
inline constexpr std::string_view kBackends[] = {"per-expert", "per-rank", "per-node", "gather"};
inline std::string_view to_text(Backend backend) { return row_of(kBackends, backend); }

/// Correction of one way of an exchange by measured calls: factor * bytes / rate + t0.
struct WayCost {
  double t0_s = 0;  ///< independent of the size
  double fabric_factor = 1, network_factor = 1;
};

/// Rates of one GPU and direction, sizes of the model. Bytes, operations, seconds.
struct CostModel {
  double memory_bytes_per_s = 0, flops_per_s = 0;
  double fabric_bytes_per_s = 0, network_bytes_per_s = 0;  ///< within a node; between nodes, where there are several
  double product_t0_s = 0;                                 ///< of a rank's products, whatever their size
  double branch_bytes = 0;                                 ///< weights of an expert
  double flops_per_row = 0;                                ///< of an expert on one token
  double dispatch_row_bytes = 0, combine_row_bytes = 0;    ///< a token's hidden state on its way there and back
  double uplink_bytes_per_s = 0;                           ///< of a node, each way; 0: its network ports alone bind
  size_t gpus_per_node = 0;                                ///< GPUs that share an uplink
  WayCost dispatch, combine;
  /// [from * ranks + to] seconds a byte, in place of fabric and network; null: those rates count. A GPU sends one
  /// message after the other.
  std::shared_ptr<const std::vector<double>> rank_cost;
  double rank_cost_factor = 1;
  /// An expert's time over its rows, in place of the rates of memory and products; null: those rates count. A rank
  /// computes one expert after the other.
  std::shared_ptr<const RowCurve> expert_curve;
  double expert_factor = 1;
};

/// Work of a rank in one layer of one step: rows of hidden states sent and received in the dispatch. The combine sends
/// them back.
struct RankWork {
  double active = 0;     ///< experts whose weights it reads
  double rows = 0;       ///< of products, each expert's padded to whole tiles
  double expert_us = 0;  ///< time of its experts, if there is a curve
  double fabric_out = 0, fabric_in = 0, network_out = 0, network_in = 0;
  /// Costs between ranks, if there are any: rows times costs, of the dispatch and of the combine in the other
  /// direction.
  double dispatch_out = 0, dispatch_in = 0, combine_out = 0, combine_in = 0;
};

/// Factor by which the busiest ports of homes are busier than the mean over all possible homes suggests: few tokens
/// live on few ranks. Homes send in the dispatch and receive in the combine.
struct HomeCrowding {
  double fabric = 1, network = 1, uplink = 1;  ///< fabric: also for costs between ranks
};

struct LayerCost {
  double dispatch_s = 0, compute_s = 0, combine_s = 0;
  double seconds() const { return dispatch_s + compute_s + combine_s; }
  LayerCost& operator+=(const LayerCost& other) {
    dispatch_s += other.dispatch_s, compute_s += other.compute_s, combine_s += other.combine_s;
    return *this;
  }
};

/// Seconds that a rank computes, 0 without rows.
double compute_s(const RankWork& rank, const CostModel& model);
/// Compute: that of the slowest rank, the larger of weights read / memory rate and rows / product rate, or its experts'
/// times. Dispatch, combine: the slowest of all ports, by what a rank sends and receives on its fabric and its network
/// port, or by the costs between ranks, and by what a node does on its uplink. Error(failed): work that is not finite.
LayerCost cost_of_layer(std::span<const RankWork> ranks, const CostModel& model);
/// The same if rows come back from elsewhere: `combined` is the dispatch whose ways back the combine takes. `there` and
/// `back` give the crowding of homes.
LayerCost cost_of_layer(std::span<const RankWork> ranks, std::span<const RankWork> combined, const CostModel& model,
                        const HomeCrowding& there = {}, const HomeCrowding& back = {});

}  // namespace stormcell
