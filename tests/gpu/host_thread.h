// The execution of kernels whose threads do not meet (kIndependent): one thread after another, without fibers. It has
// no barriers, so a kernel that needs some does not compile.
#pragma once
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/emulator.h"

namespace stormcell::testing {

class HostThread {
 public:
  HostThread(int thread, int block, int blocks, std::string& wrong)
      : thread_(thread), block_(block), blocks_(blocks), wrong_(wrong) {}
  int thread() const { return thread_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  void add(int32_t* to, int32_t n) { *to += n; }
  template <class T>
  T load_once(const T* from) {
    return load(from);
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
  /// A condition of the card that the tests play is the address of an int32_t.
  static void set_condition(uint64_t condition, bool value) { *reinterpret_cast<int32_t*>(condition) = value; }

 private:
  void check_alignment(const void* at, size_t bytes) {
    if (reinterpret_cast<uintptr_t>(at) % bytes != 0 && wrong_.empty()) wrong_ = misaligned(at, bytes);
  }
  int thread_, block_, blocks_;
  std::string& wrong_;
};

/// Runs a kernel on the host, by fibers only where its threads meet; empty, or what went wrong.
template <class Kernel>
std::string run_on_host(int blocks, const typename Kernel::Args& args, ThreadOrder order) {
  if constexpr (!Kernel::kIndependent) {
    return emulate<Kernel>(blocks, args, order);
  } else {
    std::string wrong;
    std::vector<int> turn(Kernel::kThreads);
    std::iota(turn.begin(), turn.end(), 0);
    if (order == ThreadOrder::descending) std::reverse(turn.begin(), turn.end());
    if (order == ThreadOrder::shuffled) std::shuffle(turn.begin(), turn.end(), std::mt19937(1));
    for (int block = 0; block < blocks; ++block)
      for (const int thread : turn) {
        HostThread x(thread, block, blocks, wrong);
        Kernel::run(x, args);
      }
    return wrong;
  }
}

}  // namespace stormcell::testing
