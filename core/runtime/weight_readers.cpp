#include "core/runtime/weight_readers.h"

#include <algorithm>
#include <utility>

#include "core/base/reused_memory.h"
#include "core/base/start_thread.h"

namespace stormcell {

WeightReaders::WeightReaders(int threads, std::function<void(WeightHandle)> read) : read_(std::move(read)) {
  try {
    for (int i = 0; i < threads; ++i) threads_.push_back(start_thread([this] { loop(); }));
  } catch (...) {
    stop();
    throw;
  }
}

WeightReaders::~WeightReaders() { stop(); }

void WeightReaders::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WeightReaders::put(std::list<WeightHandle> one, bool first) noexcept {
  {
    const std::lock_guard lock(mutex_);
    waiting_.splice(first ? waiting_.begin() : waiting_.end(), one);
  }
  wake_.notify_one();
}

void WeightReaders::hurry(WeightHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find(waiting_.begin(), waiting_.end(), handle);
  if (at != waiting_.end()) waiting_.splice(waiting_.begin(), waiting_, at);
}

std::list<WeightHandle> WeightReaders::take_waiting() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void WeightReaders::loop() {
  const ReusedMemory reused;  // one part is read after another
  for (;;) {
    WeightHandle handle;
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
