// Which instance of RouteAndMapKernel a number of branches takes: each is compiled in a file of its own.
#pragma once
#include "gpu/launch/device.h"
#include "gpu/layer/one_block.h"

namespace stormcell::gpu {

Status route_and_map_8x1(const OneBlockArgs& args, Stream stream);
Status route_and_map_32x1(const OneBlockArgs& args, Stream stream);
Status route_and_map_32x4(const OneBlockArgs& args, Stream stream);
Status route_and_map_32x8(const OneBlockArgs& args, Stream stream);
Status index_and_map(const OneBlockArgs& args, Stream stream);

struct RouteAndMapInstance {
  int32_t branches, cells;  ///< up to
  Status (*launch)(const OneBlockArgs&, Stream);
};
inline constexpr RouteAndMapInstance kRouteAndMapInstances[] = {{8, RouteAndMapKernel<8, 1>::kMostCells, route_and_map_8x1},
                                                                {32, RouteAndMapKernel<32, 1>::kMostCells, route_and_map_32x1},
                                                                {128, RouteAndMapKernel<32, 4>::kMostCells, route_and_map_32x4},
                                                                {256, RouteAndMapKernel<32, 8>::kMostCells, route_and_map_32x8}};

}  // namespace stormcell::gpu
