#include "tests/gpu/emulator.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace stormcell::testing {
namespace {

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kWarp = 32;
constexpr size_t kGuardBytes = 256;

// Who runs. A fiber is entered by its ucontext the first time; afterwards _longjmp changes stacks without a system
// call. Sanitizers must know of every change, so under them (and there alone) ucontext is used throughout.
struct Context {
  ucontext_t place{};
  jmp_buf jump{};
  bool begun = false;
  const void* stack = nullptr;
  size_t stack_bytes = 0;
  void* fake_stack = nullptr;
  void* tsan = nullptr;
};

void change(Context& from, Context& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
  swapcontext(&from.place, &to.place);
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.tsan, 0);
  swapcontext(&from.place, &to.place);
#else
  if (_setjmp(from.jump) != 0) return;
  if (!to.begun) {
    to.begun = true;
    setcontext(&to.place);
  }
  _longjmp(to.jump, 1);
#endif
}

enum class Waiting : uint8_t { ready, at_block, at_warp, for_something, done };

}  // namespace

// The fibers of one block: made once, used for all blocks of all launches of that many threads.
class FiberBlock {
 public:
  explicit FiberBlock(int threads) : fibers_(static_cast<size_t>(threads)) {
    main_.begun = true;
#if defined(__SANITIZE_THREAD__)
    main_.tsan = __tsan_get_current_fiber();
#endif
    warps_.resize(static_cast<size_t>(threads / kWarp));
    stacks_.reset(new std::byte[kStackBytes * fibers_.size()]);  // not initialised: untouched pages cost nothing
    for (size_t t = 0; t < fibers_.size(); ++t) {
      Context& c = fibers_[t].context;
      getcontext(&c.place);
      c.stack = c.place.uc_stack.ss_sp = stacks_.get() + t * kStackBytes;
      c.stack_bytes = c.place.uc_stack.ss_size = kStackBytes;
      c.place.uc_link = nullptr;
#if defined(__SANITIZE_THREAD__)
      c.tsan = __tsan_create_fiber(0);
#endif
      const auto address = reinterpret_cast<uintptr_t>(this);
      makecontext(&c.place, reinterpret_cast<void (*)()>(&FiberBlock::enter), 3, static_cast<unsigned>(address >> 32),
                  static_cast<unsigned>(address), static_cast<unsigned>(t));
    }
  }
  ~FiberBlock() {
#if defined(__SANITIZE_THREAD__)
    for (Fiber& f : fibers_) __tsan_destroy_fiber(f.context.tsan);
#endif
  }
  FiberBlock(const FiberBlock&) = delete;
  FiberBlock& operator=(const FiberBlock&) = delete;

  std::string run(const std::function<void(HostExecution&)>& body, int block, int blocks, std::byte* shared,
                  ThreadOrder order, const std::function<bool(int)>& between) {
    body_ = &body, block_ = block, blocks_ = blocks, shared_ = shared;
    const size_t n = fibers_.size();
    std::vector<size_t> turn(n);
    for (size_t i = 0; i < n; ++i) turn[i] = order == ThreadOrder::descending ? n - 1 - i : i;
    std::mt19937 random(static_cast<unsigned>(block) + 1);
    for (Fiber& f : fibers_) f.waiting = Waiting::ready;
    for (size_t done = 0; done < n;) {
      if (order == ThreadOrder::shuffled) std::shuffle(turn.begin(), turn.end(), random);
      bool moved = false;
      for (const size_t t : turn) {
        Fiber& f = fibers_[t];
        if (f.waiting == Waiting::for_something && f.ready(f.what)) f.waiting = Waiting::ready;
        if (f.waiting != Waiting::ready) continue;
        moved = true;
        change(main_, f.context);
        if (f.waiting == Waiting::at_warp && ++warps_[t / kWarp].arrived == kWarp && !release_warp(t / kWarp))
          return "block " + std::to_string(block) + ": lanes of warp " + std::to_string(t / kWarp) +
                 " exchange different things";
        if (f.waiting == Waiting::done) ++done;
      }
      const bool happened = between && between(block);
      if (moved || happened) continue;
      if (std::any_of(fibers_.begin(), fibers_.end(),
                      [](const Fiber& f) { return f.waiting == Waiting::for_something; }))
        return "block " + std::to_string(block) + ": nobody can go on";
      if (std::any_of(fibers_.begin(), fibers_.end(), [](const Fiber& f) { return f.waiting != Waiting::at_block; }))
        return "block " + std::to_string(block) + ": threads miss a barrier that others wait at";
      for (Fiber& f : fibers_) f.waiting = Waiting::ready;
    }
    return std::exchange(noted_, {});
  }

  /// Something went wrong that its threads go on after: the first is reported when the block is done.
  void note(std::string wrong) {
    if (noted_.empty()) noted_ = std::move(wrong);
  }
  void sync(int thread) { wait(thread, Waiting::at_block); }
  void wait_for(int thread, bool (*ready)(const void*), const void* what) {
    if (ready(what)) return;
    Fiber& f = fibers_[static_cast<size_t>(thread)];
    f.ready = ready, f.what = what;
    wait(thread, Waiting::for_something);
  }
  const uint64_t* exchange(int thread, uint64_t mine, Exchange what, int mask) {
    Warp& warp = warps_[static_cast<size_t>(thread / kWarp)];
    // Two sets of values in turn: a lane that runs ahead to the next exchange leaves those of this one alone.
    uint64_t* lanes = warp.values[fibers_[static_cast<size_t>(thread)].exchanges++ % 2];
    lanes[thread % kWarp] = mine, warp.what[thread % kWarp] = {what, mask};
    wait(thread, Waiting::at_warp);
    return lanes;
  }

 private:
  struct Fiber {
    Context context;
    Waiting waiting = Waiting::ready;
    bool (*ready)(const void*) = nullptr;  // what it waits for
    const void* what = nullptr;
    uint64_t exchanges = 0;
  };
  struct Warp {
    uint64_t values[2][kWarp] = {};
    std::pair<Exchange, int> what[kWarp] = {};
    int arrived = 0;
  };

  static void enter(unsigned high, unsigned low, unsigned thread) {
    reinterpret_cast<FiberBlock*>(static_cast<uintptr_t>(high) << 32 | low)->live(static_cast<int>(thread));
  }
  [[noreturn]] void live(int thread) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &main_.stack, &main_.stack_bytes);
#endif
    for (;;) {
      HostExecution x(*this, thread, block_, blocks_, shared_);
      (*body_)(x);
      wait(thread, Waiting::done);
    }
  }
  void wait(int thread, Waiting what) {
    Fiber& f = fibers_[static_cast<size_t>(thread)];
    f.waiting = what;
    change(f.context, main_);
  }
  /// False where its lanes do not do the same.
  bool release_warp(size_t warp) {
    const auto& what = warps_[warp].what;
    if (std::any_of(what, what + kWarp, [&](const auto& of_lane) { return of_lane != what[0]; })) return false;
    warps_[warp].arrived = 0;
    for (int lane = 0; lane < kWarp; ++lane) fibers_[warp * kWarp + static_cast<size_t>(lane)].waiting = Waiting::ready;
    return true;
  }

  const std::function<void(HostExecution&)>* body_ = nullptr;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::unique_ptr<std::byte[]> stacks_;
  Context main_;
  int block_ = 0, blocks_ = 0;
  std::string noted_;
  std::byte* shared_ = nullptr;
};

void HostExecution::check_alignment(const void* at, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(at) % bytes != 0) all_->note(misaligned(at, bytes));
}
void HostExecution::sync() { all_->sync(thread_); }
void HostExecution::wait_for(bool (*ready)(const void*), const void* what) { all_->wait_for(thread_, ready, what); }
const uint64_t* HostExecution::exchange(uint64_t mine, Exchange what, int mask) {
  return all_->exchange(thread_, mine, what, mask);
}

std::string misaligned(const void* at, size_t bytes) {
  return std::to_string(bytes) + " bytes at once, " + std::to_string(reinterpret_cast<uintptr_t>(at) % bytes) +
         " beyond a multiple of that";
}

std::string run_grid(int blocks, int threads, size_t shared_bytes, ThreadOrder order,
                     const std::function<void(HostExecution&)>& body, const std::function<bool(int)>& between) {
  if (threads % kWarp != 0) return "a block is whole warps";
  // Kept: to AddressSanitizer each fiber has a shadow of megabytes that only a fiber's end would free. Fibers that are
  // stuck are given up.
  static std::map<int, std::unique_ptr<FiberBlock>> kept;
  std::unique_ptr<FiberBlock>& fibers = kept[threads];
  if (!fibers) fibers = std::make_unique<FiberBlock>(threads);
  const size_t bytes = (shared_bytes + 1023) / 1024 * 1024;
  std::vector<std::byte> memory(bytes + kGuardBytes + 1024);
  auto* shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.data()) + 1023) / 1024 * 1024);
  for (int block = 0; block < blocks; ++block) {
    std::fill_n(shared, shared_bytes + kGuardBytes, std::byte{0xcd});
    if (std::string wrong = fibers->run(body, block, blocks, shared, order, between); !wrong.empty()) {
      fibers.reset();
      return wrong;
    }
    for (size_t i = 0; i < kGuardBytes; ++i)
      if (shared[shared_bytes + i] != std::byte{0xcd})
        return "block " + std::to_string(block) + ": a write past its shared memory";
  }
  return {};
}

}  // namespace stormcell::testing
