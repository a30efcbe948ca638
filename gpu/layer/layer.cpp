#include "gpu/layer/layer.h"

namespace stormcell::gpu {

Status layer(const LayerCall& call, const RegimeLimits& limits, void* workspace, size_t workspace_bytes, Stream stream) {
  STORMCELL_TRY(check_layer(call, limits, workspace, workspace_bytes));
  const LayerParts parts = layer_parts(call, workspace);
  STORMCELL_TRY(route(parts.route, parts.route_workspace, parts.route_workspace_bytes, stream));
  STORMCELL_TRY(make_tile_map(parts.route.decision.offsets, call.experts, limits, parts.map, stream));
  STORMCELL_TRY(grouped_product(parts.first, limits, parts.map, stream));
  STORMCELL_TRY(grouped_product(parts.second, limits, parts.map, stream));
  return parts.sums || parts.fills ? combine(parts.combine, stream) : Status();
}

}  // namespace stormcell::gpu
