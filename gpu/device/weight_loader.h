// Brings weights to the card through pinned memory. Several threads load at once: each takes a set of a stream and two
// pinned pieces, and one piece is filled while the other one is copied.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/device.h"
#include "gpu/device/card_stream.h"

namespace stormcell::card {

class WeightLoader {
 public:
  /// `device` makes the pinned memory. Both must outlive it.
  WeightLoader(Device& device, StreamParts& parts);
  ~WeightLoader();
  /// The weight in the layout of the key; done when the call returns.
  void load(const WeightKey& key, const WeightSource& source, DeviceAddress to);

 private:
  struct Lane;
  std::unique_ptr<Lane> take_lane();
  void copy(Lane& lane, DeviceAddress to, const std::byte* from, int64_t bytes);

  Device& device_;
  StreamParts& parts_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> free_;
};

}  // namespace stormcell::card
