// Fills the rows table: the first row of each operand, and the number of rows that came. One node at the beginning does
// it for operands whose extents are known, and clears the status. One node behind each router does it for operands that
// depend on its decision, and writes the words of its branches' regions. It runs in every region: behind a skipped
// router no operand has rows, and no branch is due. It also counts the router's execution, before that is recorded. One
// node behind each ragged value does the same for the operands over its cells, and counts those cells. Bound: latency
// of one launch.
#pragma once
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

struct SettleArgs : KernelArgs<7> {
  /// kRagged: the ragged value. kDecision beside it: the one whose members it holds. kCells: a count of its cells.
  enum { kDecision, kEntries, kWords, kStatus, kExecutions, kRagged, kCells };
  int64_t plans = 0;     ///< constants: EntryPlan by entry
  int64_t branches = 0;  ///< constants: the branch of each word
  int32_t first_entry = 0, entries = 0, words = 0;
  int32_t status_words = 0;  ///< of four bytes, that become 0
  int32_t region = -1;       ///< place of the word of the router's region; -1: none
  DecisionPlaces decision;
  RaggedPlaces ragged;
};

struct SettleKernel {
  using Args = SettleArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "settle";
  static constexpr int kThreads = 128;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int64_t step = grid_threads(x, kThreads);
    const bool is_made = was_made(a);
    if (is_made && a.has(Args::kExecutions) && grid_thread(x, kThreads) == 0)
      ++*a.out<int32_t>(a.ref[Args::kExecutions]);
    const int32_t* offsets = nullptr;
    if (is_made && a.has(Args::kDecision))
      offsets = reinterpret_cast<const int32_t*>(a.address(a.ref[Args::kDecision]) + a.decision.offsets);
    RaggedView ragged;
    if (is_made && a.has(Args::kRagged)) ragged = a.ragged.at(a.address(a.ref[Args::kRagged]));
    if (ragged.cells && a.has(Args::kCells) && grid_thread(x, kThreads) == 0)
      *a.out<int32_t>(a.ref[Args::kCells]) += *ragged.cells;
    for (int64_t i = grid_thread(x, kThreads); i < a.entries; i += step)
      a.out<RowsEntry>(a.ref[Args::kEntries])[i] =
          entry(a, a.constants<EntryPlan>(a.plans)[a.first_entry + i], offsets, ragged);
    for (int64_t i = grid_thread(x, kThreads); i < a.words; i += step) {
      const int32_t branch = a.constants<int32_t>(a.branches)[i];
      a.out<int32_t>(a.ref[Args::kWords])[i] = is_made && offsets[branch + 1] > offsets[branch];
    }
    for (int64_t i = grid_thread(x, kThreads); i < a.status_words; i += step)
      a.out<int32_t>(a.ref[Args::kStatus])[i] = 0;
  }

 private:
  STORMCELL_DEVICE static bool was_made(const Args& a) {
    const char* control = a.call->memory[static_cast<int>(Memory::control)];
    return a.region < 0 || *reinterpret_cast<const int32_t*>(control + a.region) != 0;
  }
  /// `offsets`: of the decision; `ragged`: the view; null: it was not made.
  STORMCELL_DEVICE static RowsEntry entry(const Args& a, const EntryPlan& plan, const int32_t* offsets,
                                          const RaggedView& ragged) {
    RowsEntry e;
    char* data = plan.input >= 0 ? reinterpret_cast<char*>(a.call->inputs[plan.input])
                                 : a.call->memory[static_cast<int>(plan.memory)] + plan.offset;
    int64_t rows = plan.rows < 0 ? 1 : a.call->dims[plan.rows];
    if (plan.is_ragged) {
      rows = ragged.cells ? ragged_rows(plan, offsets, ragged, e) : 0;
      if (plan.times >= 0) rows *= a.call->dims[plan.times];
    } else if (plan.is_routed && !offsets) {
      rows = 0;
    } else if (plan.is_routed) {
      e.first = plan.branch == -1 ? 0 : offsets[plan.branch];
      rows = (plan.branch == -1 ? offsets[a.decision.branches] : offsets[plan.branch + 1]) - e.first;
      if (plan.in_slots) data += e.first * plan.row_bytes;
      if (plan.times >= 0) rows *= a.call->dims[plan.times];
    }
    e.data = reinterpret_cast<uint64_t>(data);
    e.rows = static_cast<int32_t>(rows);
    if (plan.per_parent >= 0) {
      e.per_parent = static_cast<int32_t>(a.call->dims[plan.per_parent]);
      e.parents = e.per_parent > 0 ? e.rows / e.per_parent : 0;
    }
    return e;
  }
  /// The cells of a ragged value, or those of its members that a branch got.
  STORMCELL_DEVICE static int64_t ragged_rows(const EntryPlan& plan, const int32_t* offsets, const RaggedView& ragged,
                                              RowsEntry& e) {
    int32_t end = *ragged.parents;
    if (plan.is_routed && plan.branch != -1) e.first_parent = offsets[plan.branch], end = offsets[plan.branch + 1];
    e.first = ragged.offsets[e.first_parent];
    e.parents = end - e.first_parent;
    return ragged.offsets[end] - e.first;
  }
};

}  // namespace stormcell::gpu
