// Makes ragged values: the cells that a mask names, and the cells of the parents that a decision routes. One block
// scans the counts, because everything behind it waits for all of them. Bound: latency of one block; some thousand
// cells a turn.
#pragma once
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

/// The place of the first of n ascending numbers that is not below `value`; n: there is none.
STORMCELL_DEVICE inline int32_t first_not_below(const int32_t* ascending, int32_t n, int64_t value) {
  int32_t begin = 0, end = n;
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;
    if (ascending[middle] < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

struct CompactArgs : KernelArgs<3> {
  enum { kMask, kTo, kBase };  ///< kBase: the ragged value of the mask's cells; none: they are dense
  RaggedPlaces to, base;
};

/// The cells whose mask is not 0, in order. A thread looks at eight neighbouring cells of a turn.
struct CompactKernel {
  using Args = CompactArgs;
  static constexpr const char* kName = "compact";
  static constexpr int kThreads = 256, kHeld = 8;
  static constexpr bool kIndependent = false;
  struct Shared {
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const Groups base = groups_of(a, a.ref[Args::kMask], a.ref[Args::kBase], a.base);
    const int64_t rows = a.rows(a.ref[Args::kMask]).rows;
    const int32_t* mask = a.in<int32_t>(a.ref[Args::kMask]);
    const RaggedView to = a.to.at(a.out<char>(a.ref[Args::kTo]));
    int32_t came = 0;
    for (int64_t turn = 0; turn < rows; turn += kThreads * kHeld) {
      const int64_t first = turn + x.thread() * kHeld;
      uint32_t kept = 0;
      STORMCELL_UNROLL
      for (int i = 0; i < kHeld; ++i)
        kept |= static_cast<uint32_t>(first + i < rows && x.load(mask + first + i) != 0) << i;
      int32_t total = 0;
      int32_t at = came + sum_before<kThreads>(x, x.count_bits(kept), x.template shared<Shared>().warps, total);
      STORMCELL_UNROLL
      for (int i = 0; i < kHeld; ++i) {
        if (!(kept >> i & 1)) continue;
        const int64_t cell = first + i;
        const int32_t parent = base.parent(cell);
        to.cell[at] = static_cast<int32_t>(cell), to.parent[at] = parent, to.place[at] = base.place(parent, cell);
        ++at;
      }
      came += total;
    }
    x.sync();
    for (int32_t p = x.thread(); p <= base.parents; p += kThreads)
      to.offsets[p] = first_not_below(to.cell, came, base.begin(p));
    if (x.thread() == 0) *to.cells = came, *to.parents = base.parents;
  }
};

struct MembersArgs : KernelArgs<3> {
  enum { kDecision, kTo, kBase };  ///< kBase: the ragged value of the base; none: the base is dense
  DecisionPlaces decision;
  RaggedPlaces to, base;
  int32_t extent = -1;  ///< of a dense base: place of the extent of a parent in the call block; -1: `per_parent`
  int32_t per_parent = 0;

  STORMCELL_DEVICE DecisionView view() const { return decision.at(const_cast<char*>(in<char>(ref[kDecision]))); }
  STORMCELL_DEVICE Groups groups() const {
    Groups g;
    g.per_parent = extent < 0 ? per_parent : static_cast<int32_t>(call->dims[extent]);
    if (has(kBase)) g.ragged = base.at(const_cast<char*>(in<char>(ref[kBase])));
    return g;
  }
};

/// Counts the cells below each slot and computes their beginnings.
struct MembersKernel {
  using Args = MembersArgs;
  static constexpr const char* kName = "members";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = false;
  struct Shared {
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const DecisionView d = a.view();
    const Groups base = a.groups();
    const RaggedView to = a.to.at(a.out<char>(a.ref[Args::kTo]));
    const int32_t slot_count = d.offsets[d.branches];
    int32_t came = 0;
    for (int32_t turn = 0; turn < slot_count; turn += kThreads) {
      const int32_t slot = turn + x.thread();
      const int32_t mine = slot < slot_count ? base.count(d.cell[slot]) : 0;
      int32_t total = 0;
      const int32_t before = sum_before<kThreads>(x, mine, x.template shared<Shared>().warps, total);
      if (slot < slot_count) to.offsets[slot] = came + before;
      came += total;
    }
    if (x.thread() == 0) to.offsets[slot_count] = came, *to.cells = came, *to.parents = slot_count;
  }
};

/// Names the cells below the slots, which MembersKernel has counted. A thread takes a cell.
struct MemberCellsKernel {
  using Args = MembersArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "member cells";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const DecisionView d = a.view();
    const Groups base = a.groups();
    const RaggedView to = a.to.at(a.out<char>(a.ref[Args::kTo]));
    const int32_t cells = *to.cells, slot_count = *to.parents;
    for (int64_t i = grid_thread(x, kThreads); i < cells; i += grid_threads(x, kThreads)) {
      // The last slot that begins at or before i: slots without cells begin there, too.
      const int32_t slot = first_not_below(to.offsets, slot_count + 1, i + 1) - 1, parent = d.cell[slot];
      const int64_t cell = base.begin(parent) + i - to.offsets[slot];
      to.cell[i] = static_cast<int32_t>(cell), to.parent[i] = slot, to.place[i] = base.place(parent, cell);
    }
  }
};

}  // namespace stormcell::gpu
