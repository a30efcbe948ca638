// The rule by which a router decides, as a value. Each kind has a function from scores to choices (choose.h) and a row
// with all that others ask about it (protocol_row.h); route() applies the one that a Protocol names (route.h).
#pragma once
#include <cstdint>
#include <vector>

#include "core/cell/decision.h"

namespace stormcell {

enum class ProtocolKind : uint8_t {
  top_k,               ///< the k largest scores
  switch_top1,         ///< softmax, argmax, capacity per parent in cell order (Switch Transformers)
  batch_prioritized,   ///< softmax top-1, capacity factor over the batch, most confident cells first (SwinV2-MoE)
  sigmoid_groups,      ///< sigmoid, bias-corrected choice, limited to the best groups (DeepSeek-V3)
  threshold,           ///< every branch whose score exceeds a threshold, else a residual branch
  residual_threshold,  ///< sum of scores below the threshold: branch `residual`, else the other
  exit_threshold,      ///< softmax; confidence at or above the threshold leaves by branch `residual`, else goes on
  hash,                ///< two branches from a table by label, independent of the data
  label,               ///< the branch that a given label names
};

/// A router with more branches or more choices a cell is refused by its shape rule, so that small arrays on the stack
/// suffice. For a protocol that may choose every branch, only the limit of branches holds.
inline constexpr int32_t kMostBranches = 4096, kMostChoices = 64;

enum class SoftmaxPlace : uint8_t { none, before, after };  ///< over all scores before the choice, or over the k chosen
enum class DroppedCells : uint8_t { zero, scaled_input };   ///< contribution of a dropped cell

/// A router's rule with its parameters; unused ones keep their defaults.
struct Protocol {
  ProtocolKind kind = ProtocolKind::top_k;
  int32_t k = 1;
  SoftmaxPlace softmax = SoftmaxPlace::before;
  bool renormalize = false;  ///< chosen weights divided by their sum
  int32_t capacity = 0;      ///< switch_top1: cells for each (parent, branch); 0: unlimited
  DroppedCells dropped = DroppedCells::zero;
  double capacity_factor = 0;  ///< batch_prioritized: capacity = int(factor * ceil(cells / branches)), 0: unlimited
  float threshold = 0;
  int32_t residual = -1;                ///< threshold: branch of cells without a hit, -1 none; exits: the exit branch
  int32_t groups = 1, groups_kept = 1;  ///< sigmoid_groups
  float scale = 1;                      ///< multiplies the weights (routed scaling factor)
  uint64_t seed = 0;                    ///< hash
  std::vector<int32_t> off;             ///< branches that are never chosen, ascending; weights are as if they could be
  std::vector<int32_t> supported_capacities;  ///< CapacityGrid of capacity.h
  bool capacity_padding = false, path_wise_padding = false;

  bool operator==(const Protocol&) const = default;
};

/// The branch of residual and exit thresholds whose cells leave or only pass. The other branch computes or goes on.
inline int32_t residual_branch(const Protocol& rule) { return rule.residual > 0 ? rule.residual : 0; }

/// Scores of one router on one batch.
struct ScoreView {
  const float* data = nullptr;  ///< [cells, branches]; null for label and hash
  int64_t cells = 0;
  int32_t branches = 0;
  const float* bias = nullptr;     ///< [branches] correction bias of sigmoid_groups, nullable
  const int32_t* label = nullptr;  ///< [cells] for label and hash
  ParentMap parents;               ///< parents that capacity is counted over
};

}  // namespace stormcell
