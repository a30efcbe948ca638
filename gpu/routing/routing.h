// Routing on the device: scores to a CSR decision, in the words of core/cell. Nothing waits on the host; all counts
// stay on the device.
#pragma once
#include <cstddef>

#include "core/cell/protocol.h"
#include "gpu/base/status.h"
#include "gpu/routing/choose.h"
#include "gpu/routing/index.h"

namespace stormcell::gpu {

/// One decision; all pointers are device pointers. Protocols: those of device_choice().
struct RouteCall {
  const float* scores = nullptr;  ///< [cells, branches]
  const float* bias = nullptr;    ///< [branches] correction bias of sigmoid_groups, nullable
  int64_t cells = 0;
  int32_t branches = 1;  ///< 1 to 1,024
  ParentMap parents;     ///< parents that capacity is counted over
  Rule rule;             ///< rule_of(protocol, branches)
  DecisionView decision;
};

/// Bytes of workspace that route() needs for up to `cells` cells.
size_t route_workspace(int64_t cells, int32_t branches, const Rule& rule);
/// The reason why route() refuses the call, if it does, found before anything is launched.
Status check_route(const RouteCall& call, const void* workspace, size_t workspace_bytes);
/// The arguments of the kernels.
inline ChooseArgs choose_args(const RouteCall& call) {
  ChooseArgs args;
  args.scores = call.scores, args.bias = call.bias;
  args.cells = static_cast<int32_t>(call.cells), args.branches = call.branches;
  args.rule = call.rule;
  args.choice = call.decision.choice, args.choice_weight = call.decision.choice_weight,
  args.margin = call.decision.margin;
  return args;
}
IndexArgs index_args(const RouteCall& call, void* workspace);
/// True if the choices fit one tile, so that one block makes the index.
inline bool is_one_tile(const IndexArgs& args) { return args.tiles == 1; }

/// Decides: choices, weights, margins, index. It is queued on the stream; the workspace is free when the stream has
/// passed it.
Status route(const RouteCall& call, void* workspace, size_t workspace_bytes, Stream stream);

}  // namespace stormcell::gpu
