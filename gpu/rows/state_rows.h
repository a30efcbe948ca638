// Finds the rows of a state: in one piece, or in pages from the call block. Rows that do not fit, or have no page, are
// a failure of the step (core/runtime/step_failure.h): the first failure stays, and later kernels are not due.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// Rows of a page, as in core/runtime/state_rows.h.
inline constexpr int32_t kRowsOfPage = 64;

/// Places of the parts of a failure in the status, and the node that it is of.
struct FailurePlaces {
  int32_t code = 0, leaf = 0, what = 0, node_at = 0, parent = 0, at = 0, got = 0, most = 0;
  int32_t node = -1;
  int32_t rows_beyond_places = 0, missing_page = 0, failed = 0;  ///< numbers of the failures, and of the code
};

/// A fault of the rows of a state; `what` is 0: there is none.
struct StateFault {
  int32_t what = 0;
  int64_t parent = 0, at = 0, got = 0, most = 0;
};

struct StateRowsOf {
  char* data = nullptr;
  const uint64_t* pages = nullptr;  ///< [parents, pages_of_parent]; null: in one piece
  int64_t pages_of_parent = 0, places = 0, row_bytes = 0;

  STORMCELL_DEVICE char* row(int64_t parent, int64_t place) const {
    if (!pages) return data + (parent * places + place) * row_bytes;
    return reinterpret_cast<char*>(pages[parent * pages_of_parent + place / kRowsOfPage]) +
           place % kRowsOfPage * row_bytes;
  }
  /// The fault of a parent's rows [at, at + rows), whose pages are asked for from `first` on.
  STORMCELL_DEVICE StateFault fault(const FailurePlaces& f, int64_t parent, int64_t at, int64_t rows,
                                    int64_t first) const {
    if (at < 0 || rows > places - at) return {f.rows_beyond_places, parent, at, rows, places};
    for (int64_t r = first; pages && r < at + rows; r += kRowsOfPage - r % kRowsOfPage)
      if (r / kRowsOfPage >= pages_of_parent || pages[parent * pages_of_parent + r / kRowsOfPage] == 0)
        return {f.missing_page, parent, r, 0, 0};
    return {};
  }
};

/// `paged`: the state's place among those in pages; -1: it is in one piece.
template <class Args>
STORMCELL_DEVICE StateRowsOf state_rows(const Args& a, const Ref& state, int32_t paged, int64_t row_bytes) {
  const RowsEntry rows = a.rows(state);
  StateRowsOf s;
  s.places = rows.per_parent, s.row_bytes = row_bytes;
  if (paged < 0) {
    s.data = reinterpret_cast<char*>(rows.data);
  } else {
    s.pages_of_parent = a.call->pages_of_sequence;
    s.pages = a.call->pages + static_cast<int64_t>(paged) * rows.parents * s.pages_of_parent;
  }
  return s;
}

/// Leaves a failure in the status. `status`: its first byte.
STORMCELL_DEVICE inline void leave_failure(const FailurePlaces& f, char* status, const StateFault& fault) {
  const auto word = [&](int32_t place) -> int32_t& { return *reinterpret_cast<int32_t*>(status + place); };
  const auto number = [&](int32_t place) -> int64_t& { return *reinterpret_cast<int64_t*>(status + place); };
  word(f.what) = fault.what, word(f.node_at) = f.node, word(f.leaf) = 0;
  number(f.parent) = fault.parent, number(f.at) = fault.at, number(f.got) = fault.got, number(f.most) = fault.most;
  word(f.code) = f.failed;
}

/// True if this kernel itself reported the failure: its other threads must go on, because they meet at barriers.
STORMCELL_DEVICE inline bool failed_here(const FailurePlaces& f, const char* status) {
  const auto word = [&](int32_t place) { return *reinterpret_cast<const int32_t*>(status + place); };
  return word(f.code) == f.failed && word(f.node_at) == f.node;
}

/// Leaves the fault of the first parent that has one: a thread a parent. of(parent) is its fault.
template <class Of>
STORMCELL_DEVICE void leave_first_fault(const FailurePlaces& f, char* status, int64_t parents, int64_t first,
                                        int64_t step, const Of& of) {
  for (int64_t p = first; p < parents; p += step) {
    const StateFault fault = of(p);
    if (fault.what == 0) continue;
    bool is_first = true;
    for (int64_t before = 0; before < p && is_first; ++before) is_first = of(before).what == 0;
    if (is_first) leave_failure(f, status, fault);
  }
}

}  // namespace stormcell::gpu
