// Streams: work in order, one behind the other; between two of them only events keep an order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/runtime/device_address.h"

namespace stormcell {

/// Memory of the host that a device reaches on its own (pinned). Freed with its handle; aligned to 64 bytes at least.
class PinnedBuffer {
 public:
  virtual ~PinnedBuffer() = default;
  virtual std::byte* data() const = 0;
  virtual int64_t bytes() const = 0;
};

/// A place in a stream's work that other streams can wait for. It belongs to the device that made it.
class Event {
 public:
  virtual ~Event() = default;
};

/// Work in order. Host memory given to a copy must stay as it is until the next synchronisation. Different streams run
/// in any order, and at the same time: what one needs of another it waits for.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Copies from and to any memory of the host: the calling thread may be held while the device fetches it.
  virtual void copy_to_device(DeviceAddress to, const void* from, int64_t bytes) = 0;
  virtual void copy_to_host(void* to, DeviceAddress from, int64_t bytes) = 0;
  /// Never hold the calling thread. All of the host's memory lies in one PinnedBuffer of the device; a device that
  /// copies on its own throws Error(failed) for any other.
  virtual void copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) = 0;
  virtual void copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) = 0;
  /// The event stands for everything that was put on this stream before; recorded again, for more, whoever waits
  /// already.
  virtual void record(Event& event) = 0;
  /// Lets all later work on this stream run after what the event stands for now. Never holds the calling thread.
  /// Error(failed) if the event was never recorded: nothing would be waited for.
  virtual void wait(const Event& event) = 0;
  /// Waits until everything put on the stream is done; throws what failed there. Counted by the device.
  virtual void synchronize() = 0;
};

}  // namespace stormcell
