// Which instance of RouteAndMapKernel a number of branches takes: each is compiled in a file of its own.
#pragma once
#include "gpu/launch/device.h"
#include "gpu/routing/one_block.h"

namespace stormcell::gpu {

Status route_and_map_8x1(const OneBlockArgs& args, Stream stream);
Status route_and_map_32x1(const OneBlockArgs& args, Stream stream);
Status route_and_map_8x8(const OneBlockArgs& args, Stream stream);
Status route_and_map_16x8(const OneBlockArgs& args, Stream stream);
Status route_and_map_32x8(const OneBlockArgs& args, Stream stream);
Status index_and_map(const OneBlockArgs& args, Stream stream);

struct RouteAndMapInstance {
  int32_t branches, cells;  ///< up to
  Status (*launch)(const OneBlockArgs&, Stream);
};
inline constexpr RouteAndMapInstance kRouteAndMapInstances[] = {{8, RouteAndMapKernel<8, 1>::kMostCells, route_and_map_8x1},
                                                                {32, RouteAndMapKernel<32, 1>::kMostCells, route_and_map_32x1},
                                                                {64, RouteAndMapKernel<8, 8>::kMostCells, route_and_map_8x8},
                                                                {128, RouteAndMapKernel<16, 8>::kMostCells, route_and_map_16x8},
                                                                {256, RouteAndMapKernel<32, 8>::kMostCells, route_and_map_32x8}};

/// The instance that does all in one block; null where the cells are too many for one, or their choices for one tile.
inline const RouteAndMapInstance* find_route_and_map(const OneBlockArgs& args) {
  if (args.index.tiles != 1) return nullptr;
  for (const RouteAndMapInstance& instance : kRouteAndMapInstances)
    if (args.choose.branches <= instance.branches && args.choose.cells <= instance.cells) return &instance;
  return nullptr;
}

}  // namespace stormcell::gpu
