#include "gpu/layer/layer.h"

#include "gpu/routing/choose_launch.h"
#include "gpu/routing/one_block_launch.h"

namespace stormcell::gpu {
namespace {

// Takes one launch for a few cells, two for up to a tile of choices, else route() and the tile map.
Status route_and_map(const LayerParts& parts, const RegimeLimits& limits, Stream stream) {
  const OneBlockArgs args = one_block_args(parts, limits);
  if (!is_one_tile(args.index)) {
    STORMCELL_TRY(route(parts.route, parts.route_workspace, parts.route_workspace_bytes, stream));
    return make_tile_map(args.map.offsets, args.map.experts, {parts.map, limits}, stream);
  }
  if (const RouteAndMapLaunch in_one_block = find_route_and_map(args)) return in_one_block(args, stream);
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  STORMCELL_TRY(choose(*device, args.choose, stream));
  return index_and_map(args, stream);
}

}  // namespace

Status layer(const LayerCall& call, const RegimeLimits& limits, void* workspace, size_t workspace_bytes,
             Stream stream) {
  STORMCELL_TRY(check_layer(call, limits, workspace, workspace_bytes));
  const LayerParts parts = layer_parts(call, workspace);
  STORMCELL_TRY(route_and_map(parts, limits, stream));
  const TileMap map = {parts.map, limits};
  STORMCELL_TRY(grouped_product(parts.first, map, stream));
  STORMCELL_TRY(grouped_product(parts.second, map, stream));
  return parts.sums || parts.fills ? combine(parts.combine, stream) : Status();
}

}  // namespace stormcell::gpu
