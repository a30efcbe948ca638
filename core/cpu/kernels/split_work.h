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
  const int64_t grain = std::max<int64_t>(1, std::min(kAloneFloats / 4 / std::max<int64_t>(floats, 1), rows / team.size()));
  team.split(rows, grain, [&](int64_t begin, int64_t end, int) { f(begin, end); });
}

}  // namespace stormcell::cpu
