#include "gpu/launch/stall.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <new>

#include "gpu/launch/device.h"

namespace stormcell::gpu {
namespace {
std::mutex mutex;
StallRecord* made = nullptr;  // never freed: a card may write it until the process ends
}  // namespace

Status stall_record(StallRecord*& record) {
  const std::lock_guard lock(mutex);
  if (!made) {
    void* memory = nullptr;
    STORMCELL_TRY(check_cuda(cudaHostAlloc(&memory, sizeof(StallRecord), cudaHostAllocMapped | cudaHostAllocPortable),
                             "cudaHostAlloc", "(the record of a stall)"));
    made = new (memory) StallRecord{};
  }
  record = made;
  return {};
}

Status check_stall() {
  const std::lock_guard lock(mutex);
  return made ? check_stall(*made) : Status();
}

}  // namespace stormcell::gpu
