// Launches a kernel of gpu/base/execution.h on a stream.
#pragma once
#include <type_traits>

#include "gpu/base/execution.h"
#include "gpu/base/number.h"
#include "gpu/launch/cuda_execution.cuh"
#include "gpu/launch/device.h"

namespace stormcell::gpu {

/// Blocks that a multiprocessor must be able to hold, if a kernel sets more than one by kBlocks.
template <class Kernel>
constexpr int blocks_held() {
  if constexpr (requires { Kernel::kBlocks; }) return Kernel::kBlocks;
  return 1;
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, blocks_held<Kernel>())
    run_kernel(const __grid_constant__ typename Kernel::Args args) {
  CudaExecution x;
  Kernel::run(x, args);
}

template <class Kernel>
constexpr int shared_bytes_of() {
  return std::is_same_v<typename Kernel::Shared, Nothing> ? 0 : static_cast<int>(sizeof(typename Kernel::Shared));
}

struct Grid {
  int64_t blocks;
  int threads, shared_bytes;  ///< a block
};
/// Queues a kernel. The result is this launch's own error: cudaGetLastError() could also return an earlier call's.
template <class... Parameters, class... Arguments>
Status launch_grid(const char* call, const char* sizes, void (*kernel)(Parameters...), const Grid& grid, Stream stream,
                   const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = static_cast<size_t>(grid.shared_bytes);
  config.stream = stream;
  return check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), call, sizes);
}

/// Queues `blocks` blocks. `sizes` says in an error's line how large the call was.
template <class Kernel>
Status launch(const char* call, const char* sizes, int64_t blocks, const typename Kernel::Args& args, Stream stream) {
  constexpr int kShared = shared_bytes_of<Kernel>();
  if constexpr (kShared > (48 << 10))
    STORMCELL_TRY(check_cuda(
        cudaFuncSetAttribute(run_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), call, sizes));
  return launch_grid(call, sizes, run_kernel<Kernel>, {most<int64_t>(1, blocks), Kernel::kThreads, kShared}, stream,
                     args);
}

/// Blocks for a kernel that strides over its work: as many as there is work for, at most `waves` a multiprocessor.
inline int64_t blocks_for(const Device& device, int64_t work, int waves) {
  return most<int64_t>(1, least<int64_t>(work, static_cast<int64_t>(device.multiprocessors) * waves));
}

}  // namespace stormcell::gpu
