// Streams and events of a card.
#pragma once
#include <atomic>
#include <memory>

#include "core/runtime/stream.h"
#include "gpu/device/card.h"

namespace stormcell::card {

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(const Card& card);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  CardEvent handle() const { return handle_; }
  bool is_recorded = false;

 private:
  const Card& card_;
  CardEvent handle_ = nullptr;
};

/// Shared by the streams of one device: it must outlive them.
struct StreamParts {
  const Card& card;
  PinnedRanges pinned = {};
  std::atomic<int64_t> synchronizations{0};
};

class CudaStream final : public Stream {
 public:
  explicit CudaStream(StreamParts& parts);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  void copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override;
  void copy_to_host(void* to, DeviceAddress from, int64_t bytes) override;
  void copy_pinned_to_device(DeviceAddress to, const void* from, int64_t bytes) override;
  void copy_to_pinned(void* to, DeviceAddress from, int64_t bytes) override;
  void record(Event& event) override;
  void wait(const Event& event) override;
  void synchronize() override;
  CardStream handle() const { return handle_; }
  /// The last launch, for the error of a kernel, which only a synchronisation brings.
  void tell_launch(const std::string& what) { launched_ = what; }

 private:
  StreamParts& parts_;
  CardStream handle_ = nullptr;
  std::string launched_;
};

}  // namespace stormcell::card
