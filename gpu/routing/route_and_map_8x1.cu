#include <cstdio>

#include "gpu/launch/launch.cuh"
#include "gpu/routing/one_block_launch.h"

namespace stormcell::gpu {

Status route_and_map_8x1(const OneBlockArgs& args, Stream stream) {
  char sizes[64];
  std::snprintf(sizes, sizeof sizes, "(%d cells, %d branches)", args.choose.cells, args.choose.branches);
  return launch<RouteAndMapKernel<8, 1>>("layer: route", sizes, 1, args, stream);
}

}  // namespace stormcell::gpu
