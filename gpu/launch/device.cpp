#include "gpu/launch/device.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "gpu/base/number.h"

namespace stormcell::gpu {
namespace {
constexpr int kMostDevices = 64;
std::atomic<int> most_multiprocessors = INT32_MAX;

Status ask(int index, Device& device) {
  cudaDeviceProp properties{};
  STORMCELL_TRY(check_cuda(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties", ""));
  std::snprintf(device.name, sizeof device.name, "%.63s", properties.name);
  device.major = properties.major, device.minor = properties.minor;
  device.multiprocessors = least(properties.multiProcessorCount, most_multiprocessors.load());
  device.index = index;
  return {};
}

StatusCode code_of(int error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return StatusCode::out_of_memory;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorNotSupported:
    case cudaErrorUnsupportedPtxVersion:
      return StatusCode::unsupported;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
      return StatusCode::bad_input;
    default:
      return StatusCode::device_fault;
  }
}
}  // namespace

Status current_device(const Device*& device) {
  static std::mutex mutex;
  static std::array<Device, kMostDevices> known;
  int index = 0;
  STORMCELL_TRY(check_cuda(cudaGetDevice(&index), "cudaGetDevice", ""));
  if (index < 0 || index >= kMostDevices)
    return Status::failure(StatusCode::unsupported, "device %d: at most %d are known", index, kMostDevices);
  const std::lock_guard lock(mutex);
  Device& entry = known[index];
  if (entry.index != index) STORMCELL_TRY(ask(index, entry));
  device = &entry;
  return check_card(entry);
}

void limit_multiprocessors(int most) { most_multiprocessors = most; }

Status check_cuda(int error, const char* call, const char* sizes) {
  if (error == cudaSuccess) return {};
  const auto e = static_cast<cudaError_t>(error);
  int index = -1;
  cudaGetDevice(&index);
  cudaGetLastError();
  return Status::failure(code_of(error), "%s%s%s: %s (%s) on device %d", call, *sizes ? " " : "", sizes,
                         cudaGetErrorString(e), cudaGetErrorName(e), index);
}

}  // namespace stormcell::gpu
