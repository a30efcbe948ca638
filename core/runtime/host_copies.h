// Copies between the host's memory and a device that do not block the calling thread. They pass through pinned memory,
// which is used again after each synchronisation. A batch no larger than an earlier one allocates nothing.
//
// The rule for all devices: where Device::copies_at_once() is true, as on the CPU, to_device() and to_host() read and
// write the caller's memory, because pinned memory would be one more copy. On every other device all copies pass
// through pinned memory. bring() uses it on every device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/runtime/device.h"

namespace stormcell {

/// Copies for one stream. The device must outlive it, and it the stream.
class HostCopies {
 public:
  explicit HostCopies(Device& device);
  /// Room for so many bytes of copies between two synchronisations, before they are needed.
  void reserve(int64_t bytes);
  /// Before a batch: forgets what one that failed has left. Nothing that was put on the stream may be left to do.
  void begin();
  /// `from` may change as soon as this returns.
  void to_device(Stream& stream, DeviceAddress to, const void* from, int64_t bytes);
  /// The bytes are at `to` behind synchronize().
  void to_host(Stream& stream, void* to, DeviceAddress from, int64_t bytes);
  /// Memory of the host in which the bytes are behind synchronize(), until the next copy. Aligned to 64 bytes.
  std::byte* bring(Stream& stream, DeviceAddress from, int64_t bytes);
  /// Synchronises the stream and hands over what to_host() was called for.
  void synchronize(Stream& stream);

 private:
  struct Block {
    std::unique_ptr<PinnedBuffer> memory;
    int64_t used = 0;
  };
  struct Arrival {
    void* to;
    const std::byte* from;
    int64_t bytes;
  };
  std::byte* take(int64_t bytes);
  void free_all();

  Device& device_;
  const bool at_once_;
  std::vector<Block> blocks_;
  size_t block_ = 0;                // the block that memory is taken of
  int64_t taken_ = 0, wanted_ = 0;  // bytes since the last synchronisation, and the most of any time
  std::vector<Arrival> arrivals_;   // arrivals that synchronize() hands over
};

}  // namespace stormcell
