#include <cstdio>

#include "gpu/launch/launch.cuh"
#include "gpu/routing/choose_launch.h"
#include "gpu/routing/choose_shapes.h"
#include "gpu/routing/one_block_launch.h"
#include "gpu/routing/routing.h"

namespace stormcell::gpu {
namespace {

Status index_in_parts(const Device& device, const IndexArgs& args, const char* sizes, Stream stream) {
  if (args.capacity > 0) {
    STORMCELL_TRY(
        launch<TailKernel>("route: capacity of tiles", sizes, blocks_for(device, args.tiles, 8), args, stream));
    STORMCELL_TRY(launch<CarryKernel>("route: capacity so far", sizes, blocks_for(device, args.decision.branches, 8),
                                      args, stream));
    STORMCELL_TRY(launch<LimitKernel>("route: capacity", sizes, blocks_for(device, args.tiles, 4), args, stream));
  }
  STORMCELL_TRY(launch<CountKernel>("route: count", sizes, blocks_for(device, args.tiles, 8), args, stream));
  STORMCELL_TRY(launch<ScanKernel>("route: scan", sizes, blocks_for(device, args.rows(), 8), args, stream));
  return launch<PlaceKernel>("route: place", sizes, blocks_for(device, args.tiles, 4), args, stream);
}

}  // namespace

Status choose(const Device& device, const ChooseArgs& args, Stream stream) {
  Status status;
  const bool fits = with_choose_shape(args.branches, [&](auto shape) {
    using Shape = decltype(shape);
    status = launch_choose<Shape::kLanes, Shape::kHeld>(device, args, stream);
  });
  return fits ? status : Status::failure(StatusCode::bad_input, "choose: %d branches", args.branches);
}

Status route(const RouteCall& call, void* workspace, size_t workspace_bytes, Stream stream) {
  STORMCELL_TRY(check_route(call, workspace, workspace_bytes));
  const Device* device = nullptr;
  STORMCELL_TRY(current_device(device));
  char sizes[64];
  std::snprintf(sizes, sizeof sizes, "(%lld cells, %d branches)", static_cast<long long>(call.cells), call.branches);
  const IndexArgs args = index_args(call, workspace);
  const OneBlockArgs all{choose_args(call), args, {}};
  if (const RouteAndMapLaunch in_one_block = find_route_and_map(all)) return in_one_block(all, stream);
  if (call.cells > 0) STORMCELL_TRY(choose(*device, all.choose, stream));
  if (is_one_tile(args)) return launch<IndexOneTileKernel>("route: index", sizes, 1, args, stream);
  return index_in_parts(*device, args, sizes, stream);
}

}  // namespace stormcell::gpu
