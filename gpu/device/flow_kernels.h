// Kernels that a device launches beside those of a plan: they pass results of the plan's kernels to CUDA's own control
// of a graph, and let a submission go on. Bound: latency of one launch.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::card {

struct ConditionArgs {
  const gpu::CallBlock* call = nullptr;
  uint64_t condition = 0;  ///< of the loop
  int32_t word = 0;        ///< place in control memory
};

/// Gives the word of a loop to CUDA: before the loop, and at the end of each turn.
struct ConditionKernel {
  using Args = ConditionArgs;
  using Shared = gpu::Nothing;
  static constexpr const char* kName = "condition";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (x.thread() != 0) return;
    const char* control = a.call->memory[static_cast<int>(gpu::Memory::control)];
    x.set_condition(a.condition, x.load(reinterpret_cast<const int32_t*>(control + a.word)) != 0);
  }
};

struct ResumeArgs {
  char* status = nullptr;
  int32_t leaf = 0;                                                                   ///< to go on with
  int32_t code_at = 0, leaf_at = 0, what_at = 0, node_at = 0, at_at = 0, got_at = 0;  ///< places in the status
  int32_t done = 0, waits = 0, failed = 0, elsewhere = 0;  ///< codes, and the number of the failure
};

/// Lets a submission go on at the leaf at which the last one ended. At another one it ends as failed.
struct ResumeKernel {
  using Args = ResumeArgs;
  using Shared = gpu::Nothing;
  static constexpr const char* kName = "resume";
  static constexpr int kThreads = 32;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (x.thread() != 0) return;
    const auto word = [&](int32_t place) { return reinterpret_cast<int32_t*>(a.status + place); };
    const auto number = [&](int32_t place) { return reinterpret_cast<int64_t*>(a.status + place); };
    const bool waits = x.load(word(a.code_at)) == a.waits;
    const int32_t at = waits ? x.load(word(a.leaf_at)) : -1;
    if (at == a.leaf) {
      x.store(word(a.code_at), a.done);
      return;
    }
    x.store(word(a.code_at), a.failed);
    x.store(word(a.leaf_at), 0);
    x.store(word(a.what_at), a.elsewhere);
    x.store(word(a.node_at), -1);
    x.store(number(a.at_at), static_cast<int64_t>(at));
    x.store(number(a.got_at), static_cast<int64_t>(a.leaf));
  }
};

}  // namespace stormcell::card
