// Rows to the slots of branches and back.
#pragma once
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

/// y[s] = x[cells[s]] for each of the slots; x [any, d], y [slots, d].
void gather_rows(ThreadTeam& team, const float* x, int64_t d, const int32_t* cells, int64_t slots, float* y);

/// out[c] = residual[c] + sum over j of weight[c][j] * y[slot_of[c][j]], j in order, choices of -1 (dropped cells) left
/// out. weight null counts as 1, residual null as 0. Each cell is summed by one thread: no atomics, the same bits
/// whatever the thread count. out may be residual.
void combine_rows(ThreadTeam& team, const float* y, int64_t d, const int32_t* slot_of, const float* weight,
                  int64_t cells, int32_t fan_out, const float* residual, float* out);

}  // namespace stormcell::cpu
