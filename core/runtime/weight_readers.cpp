#include "core/runtime/weight_readers.h"

#include <algorithm>
#include <utility>

namespace stormcell {

WeightReaders::WeightReaders(int threads, std::function<void(int32_t)> read) : read_(std::move(read)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { loop(); });
}

WeightReaders::~WeightReaders() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WeightReaders::put(int32_t handle, bool first) {
  {
    const std::lock_guard lock(mutex_);
    if (first) {
      waiting_.push_front(handle);
    } else {
      waiting_.push_back(handle);
    }
  }
  wake_.notify_one();
}

void WeightReaders::hurry(int32_t handle) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find(waiting_.begin(), waiting_.end(), handle);
  if (at != waiting_.end()) std::rotate(waiting_.begin(), at, at + 1);
}

void WeightReaders::loop() {
  for (;;) {
    int32_t handle = -1;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      handle = waiting_.front();
      waiting_.pop_front();
    }
    read_(handle);
  }
}

}  // namespace stormcell
