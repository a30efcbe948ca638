#include "core/runtime/shared_memory.h"

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/runtime/device.h"

namespace stormcell {
namespace {

constexpr const char* kNames[] = {"activations", "recorded decisions", "execution status",
                                  "inputs",      "replayed decisions", "tables of pages"};

}  // namespace

SharedMemory::SharedMemory(Allocate allocate) : allocate_(std::move(allocate)) {}
SharedMemory::SharedMemory(Device& device)
    : allocate_([&device](int64_t bytes, const std::string& what) { return device.allocate(bytes, what); }) {}
SharedMemory::~SharedMemory() = default;

void SharedMemory::reserve(SharedPart kind, int64_t bytes) {
  const auto i = static_cast<size_t>(kind);
  if (buffers_[i] && buffers_[i]->bytes() >= bytes) return;
  buffers_[i].reset();  // before the larger one, so that both never are there at once
  buffers_[i] = allocate_(bytes, kNames[i]);
}

DeviceAddress SharedMemory::address(SharedPart kind) const {
  const auto& buffer = row_of(buffers_, kind);
  if (!buffer) failed("shared memory", std::string("no ") + row_of(kNames, kind) + " were reserved");
  return buffer->address();
}

int64_t SharedMemory::bytes(SharedPart kind) const {
  const auto& buffer = row_of(buffers_, kind);
  return buffer ? buffer->bytes() : 0;
}

int64_t SharedMemory::bytes() const {
  int64_t all = 0;
  for (const auto& buffer : buffers_)
    if (buffer) all += buffer->bytes();
  return all;
}

}  // namespace stormcell
