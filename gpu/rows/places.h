// Places of the cells of a parent: counted along a mask, and turned into angles of rotary embedding. Bound: memory.
#pragma once
#include "gpu/base/sine.h"
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

struct PositionsArgs : KernelArgs<4> {
  enum { kMask, kTo, kFrom, kCells };  ///< kFrom: by parent the place of its first cell; none: 0. kCells: ragged
  RaggedPlaces ragged;
};

/// Cells that the mask names get places one after another, the others get 1. A warp takes a parent.
struct PositionsKernel {
  using Args = PositionsArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "positions";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const Groups cells = groups_of(a, a.ref[Args::kMask], a.ref[Args::kCells], a.ragged);
    const int32_t* mask = a.in<int32_t>(a.ref[Args::kMask]);
    int32_t* to = a.out<int32_t>(a.ref[Args::kTo]);
    const int lane = x.thread() % 32;
    const int64_t warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t parent = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; parent < cells.parents;
         parent += warps) {
      int32_t seen = a.has(Args::kFrom) ? a.in<int32_t>(a.ref[Args::kFrom])[parent] : 0;
      const int64_t begin = cells.begin(parent);
      const int32_t count = cells.count(parent);
      for (int32_t first = 0; first < count; first += 32) {
        const int64_t cell = begin + first + lane;
        const bool is_there = first + lane < count, counts = is_there && x.load(mask + cell) != 0;
        const uint32_t counted = x.ballot(counts);
        if (is_there) x.store(to + cell, counts ? seen + x.count_bits(counted & ((1u << lane) - 1)) : 1);
        seen += x.count_bits(counted);
      }
    }
  }
};

struct RotaryArgs : KernelArgs<3> {
  enum { kFrom, kPlaces, kTo };
  int64_t frequencies = 0;  ///< constants: [half]
  int32_t heads = 1, half = 1;
};

/// Turns the halves of each head by the place of the row. A thread takes a pair.
struct RotaryKernel {
  using Args = RotaryArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "rotary";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int64_t pairs = static_cast<int64_t>(a.heads) * a.half, all = a.rows(a.ref[Args::kTo]).rows * pairs;
    const float* from = a.in<float>(a.ref[Args::kFrom]);
    float* to = a.out<float>(a.ref[Args::kTo]);
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      const int64_t row = i / pairs, head = i % pairs / a.half, pair = i % a.half;
      const float place = static_cast<float>(a.in<int32_t>(a.ref[Args::kPlaces])[row]);
      const float angle = place * a.constants<float>(a.frequencies)[pair];
      const SineAndCosine turned = sine_and_cosine(angle);
      const int64_t first = (row * a.heads + head) * 2 * a.half + pair, second = first + a.half;
      const float low = x.load(from + first), high = x.load(from + second);
      x.store(to + first, low * turned.cosine - high * turned.sine);
      x.store(to + second, high * turned.cosine + low * turned.sine);
    }
  }
};

}  // namespace stormcell::gpu
