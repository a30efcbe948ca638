// Copies a decision to its record, and one that was made nowhere, because its branch got no cell. Bound: latency of one launch.
#pragma once
#include "gpu/rows/up_chain.h"

namespace stormcell::gpu {

/// Places of the parts of a record, from its beginning (core/runtime/record_area.h).
struct RecordPlaces {
  int32_t header = 0, choice = 0, weight = 0, margin = 0, ancestor = 0, padded = 0, scores = 0;
};

/// The list: decisions of the chain.
/// The records of one router.
struct RecordsOf {
  int32_t bytes = 0;  ///< of a record
  int32_t most = -1;  ///< place of an extent in the call block: there is room for so many
};

struct RecordArgs : KernelArgs<5> {
  /// kExecutions: executions so far, this one included. kRecord: room for all. kScores: scores of the router, if
  /// records keep them. kTurn: of the repeat around the router.
  enum { kDecision, kExecutions, kRecord, kScores, kTurn };
  RecordsOf records;
  DecisionPlaces decision;
  RecordPlaces places;
  UpChain chain;
  int32_t score_columns = 0;
};

struct RecordKernel {
  using Args = RecordArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "record";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int64_t first = grid_thread(x, kThreads), step = grid_threads(x, kThreads);
    const int64_t execution = *a.in<int32_t>(a.ref[Args::kExecutions]) - 1;
    if (a.call->record == 0 || execution >= a.call->dims[a.records.most]) return;
    const DecisionView d = a.decision.at(const_cast<char*>(a.in<char>(a.ref[Args::kDecision])));
    char* to = a.out<char>(a.ref[Args::kRecord]) + execution * a.records.bytes;
    const int64_t cells = *d.cells, choices = cells * d.fan_out;
    if (first == 0) {
      reinterpret_cast<int32_t*>(to + a.places.header)[0] = static_cast<int32_t>(cells);
      reinterpret_cast<int32_t*>(to + a.places.header)[1] = a.has(Args::kTurn) ? *a.in<int32_t>(a.ref[Args::kTurn]) : 0;
    }
    for (int64_t i = first; i < choices; i += step) {
      reinterpret_cast<int32_t*>(to + a.places.choice)[i] = d.choice[i];
      reinterpret_cast<float*>(to + a.places.weight)[i] = d.choice_weight[i];
    }
    for (int64_t c = first; c < cells; c += step) {
      reinterpret_cast<float*>(to + a.places.margin)[c] = d.margin[c];
      reinterpret_cast<int32_t*>(to + a.places.ancestor)[c] = static_cast<int32_t>(a.chain.follow(a, c));
    }
    if (a.has(Args::kScores))
      for (int64_t i = first; i < cells * a.score_columns; i += step)
        reinterpret_cast<float*>(to + a.places.scores)[i] = a.in<float>(a.ref[Args::kScores])[i];
    for (int64_t b = first; b < d.branches; b += step)
      reinterpret_cast<int32_t*>(to + a.places.padded)[b] = d.padded[b];
  }
};

/// A decision that would have been made in a branch.
struct AbsentDecision {
  int32_t decision = -1, executions = -1, record = -1, turn = -1;  ///< in the list; turn: -1: none
  RecordsOf records;
  DecisionPlaces places;
  RecordPlaces record_places;
};

struct AbsentArgs : KernelArgs<1> {
  enum { kDecision };  ///< decision that sends cells to the branch
  DecisionPlaces decision;
  int64_t inner = 0;  ///< constants: AbsentDecision
  int32_t count = 0;
  int32_t branch = 0;
};

/// Makes the decisions within a branch without cells empty, counts them, and records them so.
struct AbsentKernel {
  using Args = AbsentArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "absent";
  static constexpr int kThreads = 128;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const auto* offsets = reinterpret_cast<const int32_t*>(a.in<char>(a.ref[Args::kDecision]) + a.decision.offsets);
    if (offsets[a.branch + 1] > offsets[a.branch]) return;
    for (int32_t k = x.block(); k < a.count; k += x.blocks()) clear(x, a, a.constants<AbsentDecision>(a.inner)[k]);
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void clear(X& x, const Args& a, const AbsentDecision& inner) {
    const DecisionView d = inner.places.at(a.out<char>(a.listed_ref(inner.decision)));
    for (int32_t b = x.thread(); b <= d.branches; b += kThreads) {
      d.offsets[b] = 0;
      if (b < d.branches) d.wanted[b] = d.padded[b] = 0;
    }
    if (x.thread() != 0) return;
    *d.cells = 0;
    const int64_t execution = (*a.out<int32_t>(a.listed_ref(inner.executions)))++;
    if (a.call->record == 0 || execution >= a.call->dims[inner.records.most]) return;
    char* record = a.out<char>(a.listed_ref(inner.record)) + execution * inner.records.bytes;
    reinterpret_cast<int32_t*>(record + inner.record_places.header)[0] = 0;
    reinterpret_cast<int32_t*>(record + inner.record_places.header)[1] =
        inner.turn < 0 ? 0 : *a.in<int32_t>(a.listed_ref(inner.turn));
    // Run by one thread: the others no longer know the execution.
    for (int32_t b = 0; b < d.branches; ++b) reinterpret_cast<int32_t*>(record + inner.record_places.padded)[b] = 0;
  }
};

}  // namespace stormcell::gpu
