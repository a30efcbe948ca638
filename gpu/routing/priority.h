// Steps after a choice: the most confident cells of the batch get the places of a branch (SwinV2-MoE), and loads are
// reported if only some capacities are supported. The rules are those of core/cell/capacity.cpp. A thread ranks a cell
// among all cells of its branch, so nothing is sorted. Bound: each cell reads the confidence of all others, from
// caches.
#pragma once
#include "core/cell/decision.h"
#include "gpu/routing/choose.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct PriorityArgs : KernelArgs<3> {
  enum { kScores, kDecision, kRanking };  ///< kRanking: confidences by cell, then branches by cell
  DecisionPlaces decision;
  int64_t branch_at = 0;  ///< place of the branches in the ranking
  double factor = 0;      ///< of the even share of a branch

  STORMCELL_DEVICE float* confidence() const { return reinterpret_cast<float*>(address(ref[kRanking])); }
  STORMCELL_DEVICE int32_t* branch() const { return reinterpret_cast<int32_t*>(address(ref[kRanking]) + branch_at); }
  STORMCELL_DEVICE int32_t* choice() const {
    return reinterpret_cast<int32_t*>(address(ref[kDecision]) + decision.choice);
  }
};

/// The share of a softmax that each cell's choice has, summed in the order of the branches.
struct ConfidenceKernel {
  using Args = PriorityArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "confidence";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int32_t cells = a.rows(a.ref[Args::kScores]).rows, branches = a.decision.branches;
    for (int64_t c = grid_thread(x, kThreads); c < cells; c += grid_threads(x, kThreads)) {
      const float* s = a.in<float>(a.ref[Args::kScores]) + c * branches;
      const int32_t chosen = a.choice()[c];
      float top = -kInfinity, sum = 0;
      for (int32_t b = 0; b < branches; ++b)
        if (const float score = x.load(s + b); top < score) top = score;
      for (int32_t b = 0; b < branches; ++b) sum += expf(x.load(s + b) - top);
      a.confidence()[c] = usable(expf(s[chosen] - top) / sum);
      a.branch()[c] = chosen;
    }
  }
};

/// Drops the cells of each branch that are not among its most confident ones; of equal ones the first stay.
struct PriorityKernel {
  using Args = PriorityArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "priority";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int32_t cells = a.rows(a.ref[Args::kScores]).rows, capacity = capacity_of_branch(a, cells);
    const float* confidence = a.confidence();
    const int32_t* branch = a.branch();
    for (int64_t c = grid_thread(x, kThreads); c < cells; c += grid_threads(x, kThreads)) {
      const float mine = confidence[c];
      const int32_t chosen = branch[c];
      int32_t before = 0;
      for (int32_t other = 0; other < cells; ++other)
        before += branch[other] == chosen && (confidence[other] > mine || (confidence[other] == mine && other < c));
      if (before >= capacity) x.store(a.choice() + c, dropped_from(chosen));
    }
  }

 private:
  /// As capacity_of() of the core.
  STORMCELL_DEVICE static int32_t capacity_of_branch(const Args& a, int32_t cells) {
    const int64_t share = parts<int64_t>(cells, a.decision.branches);
    return static_cast<int32_t>(least(a.factor * static_cast<double>(share), static_cast<double>(cells)));
  }
};

struct PadArgs : KernelArgs<1> {
  enum { kDecision };
  DecisionPlaces decision;
  int64_t supported = 0;  ///< constants, ascending; by branch where path_wise
  int32_t count = 0;
  bool padding = false, path_wise = false;
};

/// The loads that are reported: real ones up to the largest capacity, or the capacity that holds them.
struct PadKernel {
  using Args = PadArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "pad";
  static constexpr int kThreads = 128;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const DecisionView d = a.decision.at(a.out<char>(a.ref[Args::kDecision]));
    for (int64_t b = grid_thread(x, kThreads); b < d.branches; b += grid_threads(x, kThreads))
      x.store(d.padded + b, padded(a, d.offsets[b + 1] - d.offsets[b], b));
  }

 private:
  /// As padded_load() of the core, with a grid.
  STORMCELL_DEVICE static int32_t padded(const Args& a, int32_t load, int64_t branch) {
    const auto* supported = a.constants<int32_t>(a.supported);
    if (a.path_wise && a.padding) return supported[branch];
    const int32_t largest = supported[a.count - 1];
    if (!a.padding) return least(load, largest);
    if (load == 0) return 0;
    for (int32_t i = 0; i < a.count; ++i)
      if (supported[i] >= load) return supported[i];
    return largest;
  }
};

}  // namespace stormcell::gpu
