// The launch that each file of an instance of ChooseKernel compiles.
#pragma once
#include <cstdio>

#include "gpu/launch/launch.cuh"
#include "gpu/routing/choose_launch.h"

namespace stormcell::gpu {

template <int kLanes, int kHeld>
Status launch_choose(const Device& device, const ChooseArgs& args, Stream stream) {
  using Kernel = ChooseKernel<kLanes, kHeld>;
  char sizes[64];
  std::snprintf(sizes, sizeof sizes, "(%d cells, %d branches, k %d)", args.cells, args.branches, args.rule.k);
  return launch<Kernel>("choose", sizes, blocks_for(device, parts(args.cells, Kernel::kCells), 16), args, stream);
}

}  // namespace stormcell::gpu
