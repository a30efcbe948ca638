// Launches a tensor-core kernel: one block a multiprocessor, which takes tiles until none are left.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/ptx.cuh"
#include "gpu/grouped/tensor_map.cuh"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {

#if defined(STORMCELL_STALL)
/// Runs once for this file's kernels, and never while a stream is captured.
static Status tell_waits() {
  static const Status told = [] {
    StallRecord* record = nullptr;
    STORMCELL_TRY(stall_record(record));
    return check_cuda(cudaMemcpyToSymbol(ptx::record_of_stall, &record, sizeof record), "cudaMemcpyToSymbol",
                      "(the record of a stall)");
  }();
  return told;
}
#endif

template <class Shape, class Kernel>
Status launch_tensor(Kernel kernel, const char* call, const Device& device, const ProductArgs<Bf16>& args,
                     int32_t experts, const char* sizes, Stream stream) {
#if defined(STORMCELL_STALL)
  STORMCELL_TRY(tell_waits());
#endif
  CUtensorMap map;
  STORMCELL_TRY(make_tensor_map(map, args.w, experts, static_cast<int64_t>(args.n) * Shape::kPanels, args.k));
  STORMCELL_TRY(check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes), call, sizes));
  const Grid grid = {device.multiprocessors, Shape::kThreads, Shape::kSharedBytes};
  return launch_grid(call, sizes, kernel, grid, stream, map, args);
}

}  // namespace stormcell::gpu
