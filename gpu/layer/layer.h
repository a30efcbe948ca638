// A whole layer of experts as one call: route, dispatch, two products, combine. Everything is queued on the stream,
// nothing is allocated and nothing waits for the host, so it can be captured in a CUDA graph once and replayed for any
// routing.
#pragma once
#include "gpu/grouped/grouped.h"
#include "gpu/routing/one_block.h"
#include "gpu/routing/routing.h"

namespace stormcell::gpu {

/// y[c] = sum over the experts e that c's scores choose, in the order of the choices, of weight * (activation(x[c] .
/// w1[e]^T) . w2[e]^T). Gated: w1 has 2 * hidden rows an expert, the gate's first. Device pointers, aligned to 16
/// bytes.
struct LayerCall {
  const float* scores = nullptr;      ///< [cells, experts]
  const float* score_bias = nullptr;  ///< [experts], of sigmoid_groups, nullable
  ParentMap parents;
  Rule rule;
  int64_t cells = 0;
  int32_t experts = 1, width = 0, hidden = 0;
  Format format = Format::bf16;
  bool gated = false;
  Activation activation = Activation::relu;
  const void* x = nullptr;       ///< [cells, width]
  const void* w1 = nullptr;      ///< [experts, hidden or 2 * hidden, width]
  const float* bias1 = nullptr;  ///< [experts, hidden or 2 * hidden], nullable
  const void* w2 = nullptr;      ///< [experts, width, hidden]
  const float* bias2 = nullptr;  ///< [experts, width], nullable
  /// [cells, width]: row that a dropped choice contributes with its weight; null: nothing
  const void* dropped = nullptr;
  void* y = nullptr;  ///< [cells, width]
};

/// The most rows that an expert can get, whatever the scores: for each parent at most the capacity, if the host knows
/// the number of parents. The limits of a layer's products are chosen by it (choose_limits).
int64_t most_rows(const LayerCall& call);
/// Bytes of workspace that layer() needs; the call's pointers are not used.
size_t layer_workspace(const LayerCall& call);
/// The decision that layer() leaves in the workspace; `scratch` is null.
DecisionView layer_decision(const LayerCall& call, void* workspace);
/// The reason why layer() refuses the call, if it does.
Status check_layer(const LayerCall& call, const RegimeLimits& limits, void* workspace, size_t workspace_bytes);
Status layer(const LayerCall& call, const RegimeLimits& limits, void* workspace, size_t workspace_bytes, Stream stream);

/// The pieces of a layer, as layer() queues them one after another.
struct LayerParts {
  RouteCall route;
  void* route_workspace = nullptr;
  size_t route_workspace_bytes = 0;
  int32_t* map = nullptr;
  GroupedCall first, second;
  bool sums = false;   ///< combine() sums slots; else the second product has stored every routed cell
  bool fills = false;  ///< combine() writes the cells that no product wrote
  CombineCall combine;
  size_t bytes = 0;  ///< of workspace
};
LayerParts layer_parts(const LayerCall& call, void* workspace);
/// Arguments for the kernels of one_block.h.
OneBlockArgs one_block_args(const LayerParts& parts, const RegimeLimits& limits);

}  // namespace stormcell::gpu
