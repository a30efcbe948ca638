// Results that the caches cannot hold until they are read: stored past them, so that memory is not read before it is
// written. The sum of two maps on two threads (EPYC, Zen 4, 32 MiB of L3), each read again by the next sum: of 33
// MB 2.4 ms, 3.3 through the caches; of 8 MB 0.53, 0.72; of 4 MB the same. Private to the kernels.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

/// Whether a result of so many floats is stored so: from a quarter of the L3 on.
bool is_non_temporal(int64_t floats);
/// The same for y[rows, columns], of which a vector is stored at a time.
inline bool is_non_temporal(const float* y, int64_t rows, int64_t columns) {
  return is_non_temporal(rows * columns) && reinterpret_cast<uintptr_t>(y) % 64 == 0 && columns % 16 == 0;
}
/// Floats of a row from which on a row is stored so by itself: each is fenced, which takes the time of some lines.
inline constexpr int64_t kNonTemporalRow = 1024;
/// Tests take small results for large ones. Empty goes back to the processor's. Not while a kernel runs.
void set_non_temporal_for_test(std::optional<int64_t> floats);

/// f(begin, end, to) writes the floats [begin, end) of y to `to`, all of them before it reads any: they are nothing
/// before, and come to y from there.
template <class F>
void write_result(float* y, int64_t begin, int64_t end, bool non_temporal, F&& f) {
  if (!non_temporal) return f(begin, end, y + begin);
  alignas(64) float held[kPieceFloats];
  for (int64_t first = begin; first < end; first += kPieceFloats) {
    const int64_t last = std::min(end, first + kPieceFloats);
    f(first, last, held);
    kernels().copy_non_temporal(held, last - first, y + first);
  }
}

/// f as of write_result(), over the n floats of y, shared over the team; each costs about `cost` floats of memory
/// traffic. `in_place`: y is an input too, and so in the caches.
template <class F>
void split_result(ThreadTeam& team, int64_t n, int64_t cost, float* y, bool in_place, F&& f) {
  const bool non_temporal = !in_place && is_non_temporal(n);
  split_rows(team, n, cost, [&](int64_t begin, int64_t end) { write_result(y, begin, end, non_temporal, f); });
}

}  // namespace stormcell::cpu
