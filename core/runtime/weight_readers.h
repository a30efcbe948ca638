// Threads that read weights under a budget; those that compute never read.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
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
  /// Finishes readings that have begun. Those that still wait never begin.
  ~WeightReaders();
  WeightReaders(const WeightReaders&) = delete;
  WeightReaders& operator=(const WeightReaders&) = delete;

  /// A list of the one handle, so that no memory is asked for here: its caller has said by then that it is being read.
  void put(std::list<WeightHandle> one, bool first) noexcept;
  /// A handle that waits to be read is the next one.
  void hurry(WeightHandle handle);
  /// Takes the handles that no thread has begun to read; from here on nobody will.
  std::list<WeightHandle> take_waiting() noexcept;

 private:
  void loop();
  void stop();

  std::function<void(WeightHandle)> read_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<WeightHandle> waiting_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stormcell
