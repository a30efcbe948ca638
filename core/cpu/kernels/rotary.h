// Rotary position embedding in the "halves" convention of Llama and Mixtral.
#pragma once
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

/// Rotates, in place, each head of x[rows, heads * head_dim]: element i < head_dim / 2 pairs with i + head_dim / 2 at
/// the angle positions[row] * theta^(-2 i / head_dim), computed in f32 as transformers does. head_dim is even.
void rotate_halves(ThreadTeam& team, float* x, int64_t ldx, int64_t rows, int32_t heads, int32_t head_dim,
                   const int32_t* positions, float theta);

}  // namespace stormcell::cpu
