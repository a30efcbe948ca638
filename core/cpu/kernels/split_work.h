// Light row-wise work over a team: shared only where it outweighs waking the others. Private to the kernels.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

/// Floats below which one thread does the work alone: 16 Ki floats are 1-2 us in L2, a fork-join is 0.2-5 us.
inline constexpr int64_t kAloneFloats = 16384;

/// f(begin, end) over [0, rows), each row costing about `floats` floats of memory traffic.
template <class F>
void split_rows(ThreadTeam& team, int64_t rows, int64_t floats, F&& f) {
  if (rows <= 0) return;
  if (rows * floats <= kAloneFloats) {
    f(int64_t{0}, rows);
    return;
  }
  const int64_t grain =
      std::max<int64_t>(1, std::min(kAloneFloats / 4 / std::max<int64_t>(floats, 1), rows / team.size()));
  team.split(rows, grain, [&](int64_t begin, int64_t end, int) { f(begin, end); });
}

/// Floats of a row's piece that threads share out: whole cache lines, of which some stay in L2.
inline constexpr int64_t kPieceFloats = 16384;

/// f(row, begin, end) over the floats [begin, end) of rows of `width` floats each: whole rows, or pieces of rows that
/// are long, so that a single one occupies all threads.
template <class F>
void split_floats(ThreadTeam& team, int64_t rows, int64_t width, F&& f) {
  if (width <= kPieceFloats) {
    split_rows(team, rows, width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) f(row, int64_t{0}, width);
    });
    return;
  }
  const int64_t pieces = (width + kPieceFloats - 1) / kPieceFloats;
  team.split(rows * pieces, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kPieceFloats;
      f(i / pieces, first, std::min(width, first + kPieceFloats));
    }
  });
}

/// Columns of rows that threads share out: whole cache lines, whatever the width.
inline constexpr int64_t kSplitColumns = 64;

/// One cache line of them, where there is little else to share.
inline constexpr int64_t kLineColumns = 16;

/// f(row, first, columns) over [first, first + columns), `most` of them at most, of the columns of each of `rows` rows
/// `width` wide; each column costing about `floats` floats of memory traffic.
template <class F>
void split_columns(ThreadTeam& team, int64_t rows, int64_t width, int64_t floats, F&& f, int64_t most = kSplitColumns) {
  const int64_t groups = (width + most - 1) / most;
  split_rows(team, rows * groups, floats * std::min(width, most), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % groups * most;
      f(i / groups, first, std::min(most, width - first));
    }
  });
}

}  // namespace stormcell::cpu
