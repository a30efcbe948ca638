// Launches of the kernels of one_block.h.
#pragma once
#include "gpu/launch/device.h"
#include "gpu/routing/one_block.h"

namespace stormcell::gpu {

/// Launches an instance for the shapes that one block can take (choose_shapes.h).
template <int kLanes, int kHeld>
Status launch_route_and_map(const OneBlockArgs& args, Stream stream);
Status index_and_map(const OneBlockArgs& args, Stream stream);

/// The launch that does everything in one block; null if the cells are too many for one, or their choices for one tile.
using RouteAndMapLaunch = Status (*)(const OneBlockArgs& args, Stream stream);
inline RouteAndMapLaunch find_route_and_map(const OneBlockArgs& args) {
  RouteAndMapLaunch found = nullptr;
  with_one_block(args, [&](auto shape) {
    using Shape = decltype(shape);
    found = launch_route_and_map<Shape::kLanes, Shape::kHeld>;
  });
  return found;
}

}  // namespace stormcell::gpu
