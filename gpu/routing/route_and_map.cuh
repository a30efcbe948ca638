// The launch that each file of an instance of RouteAndMapKernel compiles.
#pragma once
#include <cstdio>

#include "gpu/launch/launch.cuh"
#include "gpu/routing/one_block_launch.h"

namespace stormcell::gpu {

template <int kLanes, int kHeld>
Status launch_route_and_map(const OneBlockArgs& args, Stream stream) {
  char sizes[64];
  std::snprintf(sizes, sizeof sizes, "(%d cells, %d branches)", args.choose.cells, args.choose.branches);
  return launch<RouteAndMapKernel<kLanes, kHeld>>("layer: route", sizes, 1, args, stream);
}

}  // namespace stormcell::gpu
