#include <cstdio>

#include "gpu/launch/launch.cuh"
#include "gpu/routing/one_block_launch.h"

namespace stormcell::gpu {

Status index_and_map(const OneBlockArgs& args, Stream stream) {
  char sizes[64];
  std::snprintf(sizes, sizeof sizes, "(%d cells, %d branches)", args.choose.cells, args.choose.branches);
  return launch<IndexAndMapKernel>("layer: index", sizes, 1, args, stream);
}

}  // namespace stormcell::gpu
