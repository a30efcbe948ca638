// Weights of a case that are counted as they are read.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/weights/weight_source.h"

namespace stormcell::testing {

class CountedWeights final : public WeightSource {
 public:
  explicit CountedWeights(std::shared_ptr<const WeightSource> from) : from_(std::move(from)) {}
  const WeightInfo* find(std::string_view name) const override { return from_->find(name); }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    {
      const std::lock_guard lock(mutex_);
      ++reads_[std::string(name)];
      if (left_ > 0 && --left_ == 0) then_();
    }
    return from_->bytes(name);
  }
  /// Reads by tensor since the last call.
  std::map<std::string, int64_t> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reads_, {});
  }
  /// `then` is called once, when the `nth` reading from now begins.
  void call_at(int64_t nth, std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    left_ = nth, then_ = std::move(then);
  }

 private:
  std::shared_ptr<const WeightSource> from_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, int64_t> reads_;
  mutable int64_t left_ = 0;
  std::function<void()> then_;
};

}  // namespace stormcell::testing
