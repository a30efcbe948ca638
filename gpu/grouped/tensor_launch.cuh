// Launches a tensor-core kernel: one block a multiprocessor, which takes tiles until there are none.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/tensor_map.cuh"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {

template <class Shape, class Kernel>
Status launch_tensor(Kernel kernel, const char* call, const Device& device, const ProductArgs<Bf16>& args, int32_t experts,
                     const char* sizes, Stream stream) {
  CUtensorMap map;
  STORMCELL_TRY(make_tensor_map(map, args.w, experts, static_cast<int64_t>(args.n) * Shape::kPanels, args.k));
  STORMCELL_TRY(check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes), call, sizes));
  const Grid grid = {device.multiprocessors, Shape::kThreads, Shape::kSharedBytes};
  return launch_grid(call, sizes, kernel, grid, stream, map, args);
}

}  // namespace stormcell::gpu
