// Weights of branches that come and go while a batch runs. Behind a router, and behind a step that reads such weights,
// the submission ends where some that are due are not there. Bound: latency of one launch.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// The weight of a branch.
struct AskedPart {
  int32_t branch = 0;
  int32_t handle = -1;
};

struct AskArgs : KernelArgs<3> {
  /// kComputed: by branch, not 0: the step that asks has computed it. None: a router asks, and the list's Refs are those
  /// of all steps that will ask for its branches, to be cleared.
  enum { kDecision, kStatus, kComputed };
  DecisionPlaces decision;
  int64_t parts = 0;  ///< constants
  int32_t count = 0;
  int32_t code_at = 0, leaf_at = 0, guard_at = 0, decision_at = 0, branches_at = 0;  ///< places in the status
  int32_t code = 0, leaf = 0, operand = -1;                                          ///< what is written there
  int32_t absent = 0, wanted = 0, computed = 0;                                      ///< and of each branch
};

struct AskKernel {
  using Args = AskArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "ask";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const DecisionView d = a.decision.at(a.address(a.ref[Args::kDecision]));
    const auto is_absent = [&](int32_t branch) { return d.offsets[branch + 1] == d.offsets[branch]; };
    int32_t* computed = a.has(Args::kComputed) ? a.out<int32_t>(a.ref[Args::kComputed]) : nullptr;
    for (int32_t i = 0; i < a.listed; ++i)
      for (int32_t b = x.thread(); b < d.branches; b += kThreads) a.out<int32_t>(a.listed_ref(i))[b] = 0;
    bool lacks = false;
    for (int32_t i = x.thread(); i < a.count; i += kThreads) {
      const AskedPart part = a.constants<AskedPart>(a.parts)[i];
      if (is_absent(part.branch) || (computed && computed[part.branch] != 0)) continue;
      if (a.call->weights[part.handle] == 0)
        lacks = true;
      else if (computed)
        computed[part.branch] = 1;  // in this run of the step
    }
    if (x.ballot(lacks) == 0) return;
    x.sync_warp();  // what others have computed is read
    char* status = a.out<char>(a.ref[Args::kStatus]);
    const auto word = [&](int32_t place) -> int32_t& { return *reinterpret_cast<int32_t*>(status + place); };
    if (x.thread() == 0)
      word(a.code_at) = a.code, word(a.leaf_at) = a.leaf, word(a.guard_at) = -1, word(a.decision_at) = a.operand;
    for (int32_t b = x.thread(); b < d.branches; b += kThreads) {
      const bool is_computed = computed && computed[b] != 0;
      word(a.branches_at + 4 * b) = is_absent(b) ? a.absent : is_computed ? a.computed : a.wanted;
    }
  }
};

}  // namespace stormcell::gpu
