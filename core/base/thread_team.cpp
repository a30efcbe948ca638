#include "core/base/thread_team.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#define STORMCELL_PAUSE() _mm_pause()
#else
#define STORMCELL_PAUSE() std::this_thread::yield()
#endif

#include "core/base/start_thread.h"

namespace stormcell {
namespace {
// About 50 us of spinning: longer than the gap between two steps of a program, shorter than anybody notices.
constexpr int kSpins = 4000;
}  // namespace

ThreadTeam::ThreadTeam(int size) : size_(std::max(1, size)) {
  try {
    for (int member = 1; member < size_; ++member) threads_.push_back(start_thread([this, member] { loop(member); }));
  } catch (...) {
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  stop_ = true;
  {
    std::lock_guard lock(mutex_);
    epoch_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::start(Call call, void* context) {
  call_ = call;
  context_ = context;
  running_.store(size_ - 1, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
}

/// The other members still use the caller's stack: nothing is thrown before all are done.
void ThreadTeam::call(int member) noexcept {
  try {
    call_(context_, member);
  } catch (...) {
    if (!failed_.exchange(true)) failure_ = std::current_exception();
  }
}

void ThreadTeam::join() {
  // A member that computes for long is waited for awake; one that another program keeps from its core gets this one.
  for (int spin = 0; running_.load(std::memory_order_acquire) != 0;) {
    if (spin < kSpins) {
      STORMCELL_PAUSE();
      ++spin;
    } else {
      std::this_thread::yield();
    }
  }
  if (!failed_.load(std::memory_order_relaxed)) return;
  failed_ = false;
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::loop(int member) {
  uint64_t seen = 0;
  for (;;) {
    uint64_t now = epoch_.load(std::memory_order_acquire);
    for (int spin = 0; now == seen && spin < kSpins; ++spin) {
      STORMCELL_PAUSE();
      now = epoch_.load(std::memory_order_acquire);
    }
    if (now == seen) {
      std::unique_lock lock(mutex_);
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(lock, [&] { return epoch_.load(std::memory_order_seq_cst) != seen; });
      sleeping_.fetch_sub(1, std::memory_order_relaxed);
      now = epoch_.load(std::memory_order_acquire);
    }
    seen = now;
    if (stop_.load(std::memory_order_relaxed)) return;
    call(member);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

int available_cores() {
  int cores = 1;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  std::ifstream quota("/sys/fs/cgroup/cpu.max");
  std::string limit;
  double period = 0;
  if (quota >> limit >> period && limit != "max" && period > 0)
    cores = std::min(cores, static_cast<int>(std::ceil(std::stod(limit) / period)));
  return std::max(1, cores);
}

}  // namespace stormcell
