// Words that control a program: flags made from values, and the turns of repeats. Bound: latency of one launch.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

enum class Deciding : uint8_t {
  all_set,         ///< 1 where no number of the list's operands is 0
  extent,          ///< the value of an extent
  branches_empty,  ///< 1 where the branches got no cell
  branches_full,   ///< 1 where each of them got all cells
};

struct DecideArgs : KernelArgs<2> {
  enum { kTo, kDecision };
  DecisionPlaces decision;
  int64_t branches = 0;  ///< constants: the branches
  int32_t count = 0;     ///< how many
  int32_t dim = -1;      ///< place of the extent in the call block; -1: `number`
  int32_t number = 0;
  Deciding what = Deciding::all_set;
};

struct DecideKernel {
  using Args = DecideArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "decide";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const bool any_not = x.ballot(!holds(x, a)) != 0;
    if (x.thread() != 0) return;
    const int32_t value = a.what != Deciding::extent ? !any_not
                          : a.dim < 0                ? a.number
                                                     : static_cast<int32_t>(a.call->dims[a.dim]);
    x.store(a.out<int32_t>(a.ref[Args::kTo]), value);
  }

 private:
  /// The answer for the share of this lane.
  template <class X>
  STORMCELL_DEVICE static bool holds(X& x, const Args& a) {
    if (a.what == Deciding::extent) return true;
    if (a.what == Deciding::all_set) {
      for (int32_t k = 0; k < a.listed; ++k) {
        const RowsEntry of = a.rows(a.listed_ref(k));
        for (int32_t i = x.thread(); i < of.rows; i += kThreads)
          if (x.load(reinterpret_cast<const int32_t*>(of.data) + i) == 0) return false;
      }
      return true;
    }
    const DecisionView d = a.decision.at(const_cast<char*>(a.in<char>(a.ref[Args::kDecision])));
    for (int32_t k = x.thread(); k < a.count; k += kThreads) {
      const int32_t b = a.constants<int32_t>(a.branches)[k], load = d.offsets[b + 1] - d.offsets[b];
      if (load != (a.what == Deciding::branches_full ? *d.cells : 0)) return false;
    }
    return true;
  }
};

/// Says which body of a guard is due.
struct GuardArgs : KernelArgs<5> {
  enum { kTest, kHits, kMisses, kTaken, kFallback };  ///< kTaken: none of a late guard, whose taken body has run
};

struct GuardKernel {
  using Args = GuardArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "guard";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (x.thread() != 0) return;
    const bool is_due = a.is_due(), holds = is_due && *a.in<int32_t>(a.ref[Args::kTest]) != 0;
    if (is_due) ++*a.out<int32_t>(a.ref[holds ? Args::kHits : Args::kMisses]);
    // A guard that is not due has no body that is due.
    if (a.has(Args::kTaken)) *a.out<int32_t>(a.ref[Args::kTaken]) = holds;
    *a.out<int32_t>(a.ref[Args::kFallback]) = is_due && !holds;
  }
};

/// Ends the submission where weights of a fallback are not there. Every kernel behind it waits, and asks.
struct NeedArgs : KernelArgs<1> {
  enum { kStatus };
  int64_t handles = 0;  ///< constants
  int32_t count = 0;
  int32_t code_at = 0, leaf_at = 0, guard_at = 0, decision_at = 0;  ///< places in the status
  int32_t code = 0, leaf = 0, guard = -1;                           ///< values written there
};

struct NeedKernel {
  using Args = NeedArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "need";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    bool lacks = false;
    for (int32_t k = x.thread(); k < a.count; k += kThreads)
      lacks = lacks || a.call->weights[a.constants<int32_t>(a.handles)[k]] == 0;
    if (x.ballot(lacks) == 0 || x.thread() != 0) return;
    char* status = a.out<char>(a.ref[Args::kStatus]);
    const auto word = [&](int32_t place) -> int32_t& { return *reinterpret_cast<int32_t*>(status + place); };
    word(a.code_at) = a.code, word(a.leaf_at) = a.leaf, word(a.guard_at) = a.guard, word(a.decision_at) = -1;
  }
};

/// Says whether a repeat has another turn: at its beginning, and behind each turn.
struct TurnArgs : KernelArgs<3> {
  enum { kTurns, kAgain, kEnds };  ///< kAgain: the word that the loop asks. kEnds: not 0: no further turn
  int32_t most = -1;               ///< place of an extent in the call block
  bool begins = false;
};

struct TurnKernel {
  using Args = TurnArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "turn";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (x.thread() != 0) return;
    int32_t again = 0;
    if (a.is_due()) {
      int32_t* turns = a.out<int32_t>(a.ref[Args::kTurns]);
      *turns = a.begins ? 0 : *turns + 1;
      again = *turns < a.call->dims[a.most] && (a.begins || *a.in<int32_t>(a.ref[Args::kEnds]) == 0);
    }
    // A repeat that is not due has no turn.
    *a.out<int32_t>(a.ref[Args::kAgain]) = again;
  }
};

}  // namespace stormcell::gpu
