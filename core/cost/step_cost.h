// The cost of a layer of experts spread over ranks, in closed form: dispatch, the slowest rank's products, combine. No queues, no overlap:
// monotone in every rate, exact on a network whose links meet no others'.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stormcell {

/// How tokens come to the ranks of their experts.
enum class Backend : uint8_t {
  per_expert,  ///< a copy for each choice, even of two experts on one rank
  per_rank,    ///< a copy for each distinct rank
  per_node,    ///< a copy for each distinct node over the network, within the node one for each distinct rank
  gather,      ///< every token to every rank, whatever it chose
};
inline constexpr std::string_view kBackends[] = {"per-expert", "per-rank", "per-node", "gather"};
std::optional<Backend> find_backend(std::string_view word);
inline std::string_view to_text(Backend backend) { return kBackends[static_cast<size_t>(backend)]; }

/// Rates of one GPU and direction, sizes of the model. Bytes, operations, seconds.
struct CostModel {
  double memory_bytes_per_s = 0, flops_per_s = 0;
  double fabric_bytes_per_s = 0, network_bytes_per_s = 0;  ///< within a node; between nodes, where there are several
  double product_t0_s = 0, call_t0_s = 0;                  ///< of a rank's products, of a dispatch or combine, whatever their size
  double branch_bytes = 0;                                 ///< weights of an expert
  double flops_per_row = 0;                                ///< of an expert on one token
  double dispatch_row_bytes = 0, combine_row_bytes = 0;    ///< a token's hidden state on its way there and back
  double uplink_bytes_per_s = 0;                           ///< of a node, each way; 0: its network ports alone bind
  size_t gpus_per_node = 0;                                ///< that share an uplink
};

/// Products compute whole tiles of rows.
inline constexpr double kRowTile = 64;

/// What a rank does in one layer of one step. Rows of a token's hidden state that it sends and gets in the dispatch; the combine is the
/// same the other way.
struct RankWork {
  double active = 0;  ///< experts whose weights it reads
  double rows = 0;    ///< of products, each expert's padded to whole tiles
  double fabric_out = 0, fabric_in = 0, network_out = 0, network_in = 0;
};

struct LayerCost {
  double dispatch_s = 0, compute_s = 0, combine_s = 0;
  double seconds() const { return dispatch_s + compute_s + combine_s; }
};

/// Seconds that a rank computes, 0 without rows.
double compute_s(const RankWork& rank, const CostModel& model);
/// Compute: of the slowest rank, the larger of weights read / memory rate and rows / product rate. Dispatch, combine: of the slowest rank,
/// the largest of what it sends and what it gets on its fabric and on its network port, and of each node on its uplink. Error(failed): work that is not finite.
LayerCost cost_of_layer(std::span<const RankWork> ranks, const CostModel& model);

}  // namespace stormcell
