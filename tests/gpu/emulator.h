// Runs the kernels of gpu/ on the host: a grid of blocks one after another, the threads of a block as fibers that
// change at barriers. What it notices: threads that miss a barrier, lanes of a warp that exchange different things,
// writes past a block's shared memory, shared memory read before it was written (it is poisoned), loads and stores that
// a card cannot do because their address is odd, and, since tests run each kernel under several orders of threads,
// missing barriers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>

#include "tests/testing/sanitized.h"

namespace stormcell::testing {

/// Sanitizers make every change of threads a hundred times as long; then tests do less.
inline constexpr bool kSlowEmulator = kSanitized;

class FiberBlock;
/// The lanes of a warp do these together: all the same, or a card does what nobody meant.
enum class Exchange : uint8_t { sync, shuffle, ballot, match };

/// One thread of an emulated block; see gpu/base/execution.h.
class HostExecution {
 public:
  HostExecution(FiberBlock& all, int thread, int block, int blocks, std::byte* shared)
      : all_(&all), thread_(thread), block_(block), blocks_(blocks), shared_(shared) {}
  int thread() const { return thread_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  template <class Shared>
  Shared& shared() {
    return *reinterpret_cast<Shared*>(shared_);
  }
  void sync();
  void sync_warp() { exchange(0, Exchange::sync); }
  template <class T>
  T shuffle_xor(T value, int mask) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    const uint64_t* lanes = exchange(bits, Exchange::shuffle, mask);
    std::memcpy(&value, lanes + ((thread_ % 32) ^ mask), sizeof value);
    return value;
  }
  uint32_t ballot(bool mine) {
    const uint64_t* lanes = exchange(mine, Exchange::ballot);
    uint32_t bits = 0;
    for (int lane = 0; lane < 32; ++lane) bits |= static_cast<uint32_t>(lanes[lane] != 0) << lane;
    return bits;
  }
  uint32_t match(int32_t value) {
    const auto mine = static_cast<uint64_t>(static_cast<uint32_t>(value));
    const uint64_t* lanes = exchange(mine, Exchange::match);
    uint32_t bits = 0;
    for (int lane = 0; lane < 32; ++lane) bits |= static_cast<uint32_t>(lanes[lane] == mine) << lane;
    return bits;
  }
  void add(int32_t* to, int32_t n) { *to += n; }
  template <class T>
  T load_once(const T* from) {
    return *from;
  }
  template <class T>
  T load(const T* from) {
    check_alignment(from, sizeof(T));
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  void store(T* to, const T& value) {
    check_alignment(to, sizeof(T));
    std::memcpy(to, &value, sizeof value);
  }
  static int count_bits(uint32_t bits) { return __builtin_popcount(bits); }
  /// Goes on when ready() is true; asked once a round of the block's threads.
  template <class Ready>
  void until(const Ready& ready) {
    wait_for([](const void* what) { return (*static_cast<const Ready*>(what))(); }, &ready);
  }

 private:
  void check_alignment(const void* at, size_t bytes);
  const uint64_t* exchange(uint64_t mine, Exchange what, int mask = 0);
  void wait_for(bool (*ready)(const void*), const void* what);

  FiberBlock* all_;
  int thread_, block_, blocks_;
  std::byte* shared_;
};

/// Which thread runs next between barriers.
enum class ThreadOrder { ascending, descending, shuffled };

/// Runs body once for each thread of each block; empty, or what went wrong. `between` is called after each round of a
/// block's threads, with the block's number: what happens by itself; true where a thread that waits may go on for it.
std::string run_grid(int blocks, int threads, size_t shared_bytes, ThreadOrder order,
                     const std::function<void(HostExecution&)>& body, const std::function<bool(int)>& between = {});

/// The words for a load or store at an address that is no multiple of its size.
std::string misaligned(const void* at, size_t bytes);

/// Runs a kernel on the host; empty, or what went wrong.
template <class Kernel>
std::string emulate(int blocks, const typename Kernel::Args& args, ThreadOrder order = ThreadOrder::ascending) {
  return run_grid(blocks, Kernel::kThreads, sizeof(typename Kernel::Shared), order,
                  [&](HostExecution& x) { Kernel::run(x, args); });
}

}  // namespace stormcell::testing
