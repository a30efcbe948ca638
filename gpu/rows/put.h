// Puts rows of each parent to its places of a state, or reads them back. A thread moves four or two bytes, because
// places depend on the data. Bound: copy bandwidth.
#pragma once
#include "gpu/dispatch/dispatch.h"
#include "gpu/rows/groups.h"
#include "gpu/rows/state_rows.h"

namespace stormcell::gpu {

struct PutArgs : KernelArgs<5> {
  /// kAt: by parent the first place; none: 0. kCells: the ragged value of the rows' cells; none: they are dense.
  enum { kState, kRows, kAt, kFailure, kCells };
  RaggedPlaces ragged;
  FailurePlaces failure;
  int32_t paged = -1;  ///< of the state
  int32_t width = 1;
  int32_t row_bytes = 4;  ///< of the state
  bool gets = false;      ///< from the state to the rows
  bool rounds = false;    ///< rows in f32, the state in bf16
};

struct PutKernel {
  using Args = PutArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "put";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const RowsEntry rows = a.rows(a.ref[Args::kRows]);
    const Groups groups = groups_of(a, a.ref[Args::kRows], a.ref[Args::kCells], a.ragged);
    const StateRowsOf state = state_rows(a, a.ref[Args::kState], a.paged, a.row_bytes);
    const int32_t* at = a.has(Args::kAt) ? a.in<int32_t>(a.ref[Args::kAt]) : nullptr;
    const auto fault = [&](int64_t parent) {
      const int64_t place = at ? at[parent] : 0;
      return state.fault(a.failure, parent, place, groups.count(parent), place);
    };
    const int64_t first = grid_thread(x, kThreads), step = grid_threads(x, kThreads);
    leave_first_fault(a.failure, a.out<char>(a.ref[Args::kFailure]), rows.parents, first, step, fault);
    const int64_t piece = a.rounds ? 2 : a.row_bytes % 4 == 0 ? 4 : 2, pieces = a.row_bytes / piece;
    char* put = reinterpret_cast<char*>(rows.data);
    // Writes nothing if the rows of any parent do not fit.
    for (int64_t p = 0; p < rows.parents; ++p)
      if (fault(p).what != 0) return;
    for (int64_t i = first; i < rows.rows * pieces; i += step) {
      const int64_t row = i / pieces, column = i % pieces, parent = groups.parent(row),
                    place = (at ? at[parent] : 0) + row - groups.begin(parent);
      char* kept = state.row(parent, place) + column * piece;
      if (a.rounds)
        x.store(reinterpret_cast<Bf16*>(kept), to_bf16(x.load(reinterpret_cast<const float*>(put) + i)));
      else if (piece == 4)
        move<uint32_t>(x, a, kept, put + i * piece);
      else
        move<uint16_t>(x, a, kept, put + i * piece);
    }
  }

 private:
  template <class T, class X>
  STORMCELL_DEVICE static void move(X& x, const Args& a, char* kept, char* put) {
    const char* from = a.gets ? kept : put;
    x.store(reinterpret_cast<T*>(a.gets ? put : kept), x.load(reinterpret_cast<const T*>(from)));
  }
};

}  // namespace stormcell::gpu
