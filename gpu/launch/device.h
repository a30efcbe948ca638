// The card that the calling thread uses: what kernels must know of it, and errors in the house's form.
#pragma once
#include "gpu/base/annotations.h"
#include "gpu/base/status.h"

namespace stormcell::gpu {

struct Device {
  int index = -1;
  char name[64] = {};
  int major = 0, minor = 0;
  int multiprocessors = 0;
  bool has_wgmma() const { return major == 9 && minor == 0; }
};

/// Unsupported if the kernels cannot run on it.
inline Status check_card(const Device& device) {
  if (device.major >= 8) return {};
  return Status::failure(StatusCode::unsupported, "device %d (%s, compute capability %d.%d): kernels need 8.0",
                         device.index, device.name, device.major, device.minor);
}
/// The current card, if it is supported; the driver is asked once for each card.
Status current_device(const Device*& device);
/// For checks: limits the blocks of kernels that take one block a multiprocessor. Call it before the first use of a
/// card in this process.
void limit_multiprocessors(int most);
/// A status from a cudaError_t (0 is fine) of the named call; `sizes` may be empty. An error is also removed from
/// cudaGetLastError().
Status check_cuda(int error, const char* call, const char* sizes);

}  // namespace stormcell::gpu
