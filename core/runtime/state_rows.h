// The rows of states in memory, and the rows that state_put may write, for the oracle and the kernels alike. Rows that
// do not fit fail the step; they are never cut off.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/cell/ragged.h"
#include "core/runtime/step_failure.h"

namespace stormcell {

/// Rows of a page of states: attention packs keys 64 at a time, so that what it packs never crosses a page.
inline constexpr int64_t kPageRows = 64;
inline constexpr int64_t pages_for(int64_t rows) { return (rows + kPageRows - 1) / kPageRows; }

/// A failure unless the rows [at, at + rows) of parent `parent` fit `places`.
inline StepFailure check_places(int64_t parent, int64_t places, int64_t rows, int64_t at) {
  if (at >= 0 && rows <= places - at) return {};
  return {StepFailure::rows_beyond_places, kNone, parent, at, rows, places};
}

/// The rows of a state: `places` of each parent, one parent after another, or in pages.
struct StateRows {
  std::byte* data = nullptr;
  int64_t places = 0, row_bytes = 0;
  /// [parents][pages_of_parent] addresses of pages of kPageRows rows, 0: no such page; null: no pages
  const uint64_t* pages = nullptr;
  int64_t pages_of_parent = 0;

  std::byte* row(int64_t parent, int64_t place) const {
    if (!pages) return data + (parent * places + place) * row_bytes;
    return reinterpret_cast<std::byte*>(pages[parent * pages_of_parent + place / kPageRows]) +
           place % kPageRows * row_bytes;
  }
  /// Rows from `place` on that lie behind each other, at most `rows`.
  int64_t stretch(int64_t place, int64_t rows) const {
    return pages ? std::min(rows, kPageRows - place % kPageRows) : rows;
  }
  bool has(int64_t parent, int64_t place) const {
    return !pages || (place / kPageRows < pages_of_parent && pages[parent * pages_of_parent + place / kPageRows] != 0);
  }
  /// A failure unless a parent's rows [at, at + rows) fit and their pages are there.
  StepFailure check(int64_t parent, int64_t at, int64_t rows) const {
    if (const StepFailure failure = check_places(parent, places, rows, at)) return failure;
    for (int64_t r = at; pages && r < at + rows; r += stretch(r, rows))
      if (!has(parent, r)) return {StepFailure::missing_page, kNone, parent, r};
    return {};
  }
};

/// The rows that state_put writes: those of each parent, one parent after another in the value that is put, from the
/// parent's place `at` on.
struct PutRange {
  StateRows state;
  CellGroups rows;
  const int32_t* at = nullptr;  ///< by parent; null: 0

  /// The failure of the first parent whose rows do not fit; none where all fit.
  StepFailure check() const {
    for (int64_t p = 0; p < rows.parents; ++p)
      if (const StepFailure failure = state.check(p, place(p), rows.count(p))) return failure;
    return {};
  }
  /// Copies the rows to their places.
  void put(const std::byte* from) const {
    each([&](std::byte* kept, int64_t first, int64_t n) {
      std::memcpy(kept, from + first * state.row_bytes, bytes(n));
    });
  }
  /// Copies the rows that are in their places to `to`.
  void get(std::byte* to) const {
    each([&](const std::byte* kept, int64_t first, int64_t n) {
      std::memcpy(to + first * state.row_bytes, kept, bytes(n));
    });
  }

  /// visit(place in the state, the first of them in the value that is put, rows) for rows that lie behind each other.
  template <class Visit>
  void each(Visit visit) const {
    for (int64_t p = 0; p < rows.parents; ++p)
      for (int64_t done = 0, count = rows.count(p); done < count;) {
        const int64_t n = state.stretch(place(p) + done, count - done);
        visit(state.row(p, place(p) + done), rows.begin(p) + done, n);
        done += n;
      }
  }

 private:
  int64_t place(int64_t parent) const { return at ? at[parent] : 0; }
  size_t bytes(int64_t n) const { return static_cast<size_t>(n * state.row_bytes); }
};

}  // namespace stormcell
