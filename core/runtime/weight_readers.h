// The threads that read weights under a budget, so that those that compute never do.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/runtime/weight_table.h"

namespace stormcell {

/// Two, so that one reads while the other packs.
inline constexpr int kWeightReaders = 2;

/// Reads handles in the order in which they were asked for, those that somebody waits for first.
class WeightReaders {
 public:
  /// `read` is called by the pool's threads, one handle at a time on each, and must not throw.
  WeightReaders(int threads, std::function<void(WeightHandle handle)> read);
  /// What is being read is read to its end; what still waits never is.
  ~WeightReaders();
  WeightReaders(const WeightReaders&) = delete;
  WeightReaders& operator=(const WeightReaders&) = delete;

  void put(WeightHandle handle, bool first);
  /// A handle that waits to be read is the next one.
  void hurry(WeightHandle handle);
  /// Those that no thread has begun to read; from here on nobody will.
  std::vector<WeightHandle> take_waiting();

 private:
  void loop();
  void stop();

  std::function<void(WeightHandle)> read_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<WeightHandle> waiting_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stormcell
