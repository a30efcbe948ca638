// A store whose weights are told by their values, and whose parts each are the one of their branch.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/runtime/weight_store.h"

namespace stormcell::testing {

inline constexpr int64_t kWidth = 16, kPart = kWidth * 4;  // bytes: 64, a slot's unit

/// Weights "0", "1", ...: [16] of that number; what is read of them is counted, may be held up and may fail.
class NumberedWeights final : public WeightSource {
 public:
  explicit NumberedWeights(int count, std::vector<int64_t> shape = {kWidth}) {
    for (int i = 0; i < count; ++i) infos_.push_back({std::to_string(i), DType::f32, shape});
  }
  const WeightInfo* find(std::string_view name) const override { return &infos_.at(std::stoul(std::string(name))); }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    std::unique_lock lock(mutex_);
    ++reads;
    opened_.wait(lock, [&] { return !closed_; });
    if (broken) failed("shard", "gave out");
    const WeightInfo& info = *find(name);
    auto values =
        std::make_shared<std::vector<float>>(static_cast<size_t>(info.elements()), std::stof(std::string(name)));
    return {values, reinterpret_cast<const std::byte*>(values->data())};
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = false;
    }
    opened_.notify_all();
  }
  mutable std::atomic<int> reads = 0;
  std::atomic<bool> broken = false;

 private:
  std::vector<WeightInfo> infos_;
  mutable std::mutex mutex_;
  mutable std::condition_variable opened_;
  bool closed_ = false;
};

/// A store with `parts` parts, each the one of its branch, and room for so many slots. `asked`: for how many it was
/// asked; -1: for all.
struct Parts {
  Parts(int parts, int64_t slot_count, int asked = -1)
      : source(std::make_shared<NumberedWeights>(parts)), store(device, source, slot_count * kPart) {
    for (int i = 0; i < (asked < 0 ? parts : asked); ++i)
      handles.push_back(store.request({std::to_string(i), "plain", DType::f32}, {"router", i}));
    store.arrange();
  }
  /// As one batch after another uses them, in the order of their numbers.
  WeightStore::NextUse cyclic_after(int at) const {
    const auto n = static_cast<int64_t>(handles.size());
    return [at, n](WeightHandle handle) { return (static_cast<int64_t>(handle) - at + n - 1) % n; };
  }
  void use(int part, const WeightStore::NextUse& next) {
    store.hold(handles[static_cast<size_t>(part)], next, {});
    store.end_use({handles[static_cast<size_t>(part)]});
  }
  cpu::CpuDevice device{1};
  std::shared_ptr<NumberedWeights> source;
  WeightStore store;
  std::vector<WeightHandle> handles;
};

inline float first_value(DeviceAddress at) { return *reinterpret_cast<const float*>(at.value); }

}  // namespace stormcell::testing
