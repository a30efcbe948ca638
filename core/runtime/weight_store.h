// The weights of one model on one device, each once, whoever uses it: baseline and optimised plans share them.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "core/base/progress.h"
#include "core/runtime/device.h"

namespace stormcell {

/// Handles, not pointers: a weight may be requested long before it is loaded, and evicted while plans that know it live.
class WeightStore {
 public:
  WeightStore(Device& device, std::shared_ptr<const WeightSource> source);

  /// The handle of a weight; loads nothing. Throws Error when the source does not have it.
  int32_t request(const WeightKey& key);
  void load(int32_t handle);
  void load(const std::vector<int32_t>& handles, const Progress& progress = {});
  void evict(int32_t handle);
  bool loaded(int32_t handle) const { return entries_[static_cast<size_t>(handle)].buffer != nullptr; }
  DeviceAddress address(int32_t handle) const { return entries_[static_cast<size_t>(handle)].address; }
  const WeightKey& key(int32_t handle) const { return entries_[static_cast<size_t>(handle)].key; }
  /// Bytes it takes, or will take, on the device: exact before it is loaded, too.
  int64_t bytes(int32_t handle) const { return entries_[static_cast<size_t>(handle)].bytes; }

  double load_seconds() const { return load_seconds_; }
  const WeightSource& source() const { return *source_; }

 private:
  struct Entry {
    WeightKey key;
    std::unique_ptr<DeviceBuffer> buffer;
    DeviceAddress address;
    int64_t bytes = 0;
  };
  Device& device_;
  std::shared_ptr<const WeightSource> source_;
  std::deque<Entry> entries_;
  std::map<WeightKey, int32_t> index_;
  double load_seconds_ = 0;
};

}  // namespace stormcell
