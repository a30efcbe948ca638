// The execution: kernels without tensor-core instructions are written against it, so that they run on a card and, for
// tests, on the host.
//
// A kernel is a struct with `Args` (plain data), `Shared` (what a block's threads share, uninitialised), `kThreads` (of
// a block, a multiple of 32) and
//     template <class X> STORMCELL_DEVICE static void run(X& x, const Args& args)
// where X, the execution, is CudaExecution (gpu/launch) or HostExecution (tests/gpu) and offers
//     int thread(), block(), blocks()     this thread in its block, this block in the grid
//     Shared& shared<Shared>()
//     void sync()                         all threads of the block
//     void sync_warp()                    all threads of the warp
//     T shuffle_xor(T value, int mask)    the value of lane ^ mask; no thread of the warp may be missing, here and in
//                                         the two that follow
//     uint32_t ballot(bool)               one bit a lane
//     uint32_t match(int32_t value)       bits of the lanes with the same value
//     void add(int32_t* to, int32_t n)    atomic among the block's threads
//     T load_once(const T* from)          a load of what nobody reads again (weights, scores)
//     T load(const T* from), void store(T* to, T value)
//                                         all bytes at once: the address is a multiple of their number, which the
//                                         host checks
//     int count_bits(uint32_t)
//     void set_condition(uint64_t condition, bool value)
//                                         of a loop in a graph; of kernels whose threads do not meet
// No thread leaves a kernel before the others of its block. A kernel whose threads do not meet at all says so by
// kIndependent: the host then runs them one after another, and the execution offers neither barriers nor exchanges.
#pragma once
#include "gpu/base/annotations.h"
#include "gpu/base/number.h"

namespace stormcell::gpu {

/// Shared memory of kernels that need none.
struct Nothing {};

/// Joins the values of threads 0 to this one, in their order: join(before, then) is associative and 0 before anything
/// changes nothing. `warps` is shared scratch of kThreads / 32 entries, free again after the call; `total` gets all
/// values joined.
template <int kThreads, class X, class Join>
STORMCELL_DEVICE int32_t joined_up_to(X& x, int32_t value, int32_t* warps, int32_t& total, const Join& join) {
  const int lane = x.thread() % 32, warp = x.thread() / 32;
  int32_t mine = value;  // of this lane and those below it in its group of 2 * step lanes
  int32_t all = value;   // of the whole group
  STORMCELL_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const int32_t other = x.shuffle_xor(all, step);
    if (lane & step) mine = join(other, mine);
    all = lane & step ? join(other, all) : join(all, other);
  }
  if (lane == 0) warps[warp] = all;
  x.sync();
  int32_t before = 0;
  total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) before = total;
    total = join(total, warps[w]);
  }
  x.sync();
  return join(before, mine);
}

struct Sum {
  STORMCELL_BOTH int32_t operator()(int32_t a, int32_t b) const { return a + b; }
};
/// The sum of the values of the threads before this one; else as joined_up_to().
template <int kThreads, class X>
STORMCELL_DEVICE int32_t sum_before(X& x, int32_t value, int32_t* warps, int32_t& total) {
  return joined_up_to<kThreads>(x, value, warps, total, Sum()) - value;
}

}  // namespace stormcell::gpu
