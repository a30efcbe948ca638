// What kernels without tensor-core instructions are written against, so that they run on a card and, for tests, on the host.
//
// A kernel is a struct with `Args` (plain data), `Shared` (what a block's threads share, uninitialised), `kThreads` (of a block, a multiple
// of 32) and
//     template <class X> STORMCELL_DEVICE static void run(X& x, const Args& args)
// where X, the execution, is CudaExecution (gpu/launch) or HostExecution (tests/gpu) and offers
//     int thread(), block(), blocks()     this thread in its block, this block in the grid
//     Shared& shared<Shared>()
//     void sync()                         all threads of the block
//     void sync_warp()                    all threads of the warp, and so do those that follow: no thread may be missing
//     T shuffle_xor(T value, int mask)    the value of lane ^ mask
//     uint32_t ballot(bool)               one bit a lane
//     uint32_t match(int32_t value)       bits of the lanes with the same value
//     void add(int32_t* to, int32_t n)    atomic among the block's threads
//     T load_once(const T* from)          a load of what nobody reads again (weights, scores)
//     int count_bits(uint32_t)
// No thread leaves a kernel before the others of its block.
#pragma once
#include "gpu/base/annotations.h"
#include "gpu/base/number.h"

namespace stormcell::gpu {

/// Shared memory of kernels that need none.
struct Nothing {};

/// Threads 0..kThreads-1 of the block replace `value` by the sum of those of the threads before them; returns it. `warps` is shared
/// scratch of kThreads / 32 entries, free again after the call; `total` gets the sum over the block.
template <int kThreads, class X>
STORMCELL_DEVICE int32_t sum_before(X& x, int32_t value, int32_t* warps, int32_t& total) {
  const int lane = x.thread() % 32, warp = x.thread() / 32;
  int32_t sum = value;  // of this lane and those below it in its group of 2 * step lanes
  int32_t all = value;  // of the whole group
  STORMCELL_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const int32_t other = x.shuffle_xor(all, step);
    if (lane & step) sum += other;
    all += other;
  }
  if (lane == 0) warps[warp] = all;
  x.sync();
  int32_t before = 0;
  total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) before = total;
    total += warps[w];
  }
  x.sync();
  return before + sum - value;
}

}  // namespace stormcell::gpu
