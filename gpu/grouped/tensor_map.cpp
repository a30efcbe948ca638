#include "gpu/grouped/tensor_map.cuh"

#include <cuda_runtime_api.h>

#include <atomic>

#include "gpu/launch/device.h"

namespace stormcell::gpu {
namespace {
using Encode = decltype(&cuTensorMapEncodeTiled);

// Finds it in the loaded driver, so that nothing links to it.
Status find_encode(Encode& encode) {
  static std::atomic<Encode> found = nullptr;
  encode = found;
  if (!encode) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    STORMCELL_TRY(check_cuda(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result),
        "cudaGetDriverEntryPointByVersion(cuTensorMapEncodeTiled)", ""));
    if (result != cudaDriverEntryPointSuccess || !function)
      return Status::failure(StatusCode::unsupported, "the driver has no cuTensorMapEncodeTiled (query result %d)",
                             static_cast<int>(result));
    found = encode = reinterpret_cast<Encode>(function);
  }
  return {};
}
}  // namespace

Status make_tensor_map(CUtensorMap& map, const void* w, int32_t experts, int64_t rows, int32_t k) {
  Encode encode = nullptr;
  STORMCELL_TRY(find_encode(encode));
  const cuuint64_t extent[3] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(rows),
                                static_cast<cuuint64_t>(experts)};
  const cuuint64_t stride[2] = {static_cast<cuuint64_t>(k) * 2,
                                static_cast<cuuint64_t>(rows) * static_cast<cuuint64_t>(k) * 2};
  const cuuint32_t box[3] = {64, 64, 1}, step[3] = {1, 1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void*>(w), extent, stride, box,
                                 step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    return Status::failure(StatusCode::bad_input, "cuTensorMapEncodeTiled: error %d for weights [%d, %lld, %d] at %p",
                           static_cast<int>(result), experts, static_cast<long long>(rows), k, w);
  return {};
}

}  // namespace stormcell::gpu
