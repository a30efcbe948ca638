// Norms over the last axis of x[rows, d], in f32. y may be x.
#pragma once
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

/// y = x / sqrt(mean(x^2) + eps) * gain (T5, Llama). gain [d] or null.
void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, float* y);

/// The same, rounded to bf16 as it is stored.
void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, uint16_t* y);

/// out[r] = 1 / sqrt(mean(x[r]^2) + eps): the row_scale of a product into whose weights the gain was packed.
void rms_row_scale(ThreadTeam& team, const float* x, int64_t rows, int64_t d, float eps, float* out);

/// y = (x - mean) / sqrt(variance + eps) * gain + bias, with the biased variance. gain, bias [d] or null.
void layer_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, const float* bias,
                float eps, float* y);

/// Rows, gains and biases of the branches of a router; row r of y is of branch b where offsets[b] <= r < offsets[b +
/// 1].
struct GroupedNorm {
  const float* x = nullptr;
  const int32_t* row_of_slot = nullptr;  ///< row r of y is made of row row_of_slot[r] of x; null: of row r
  const int32_t* offsets = nullptr;      ///< [branches + 1], ascending, begins at 0
  int32_t branches = 0;
  const float* const* gains = nullptr;   ///< [branches] of [d]; null: an absent branch, its rows are left untouched
  const float* const* biases = nullptr;  ///< [branches] of [d]
};
/// layer_norm() of each row with its branch's gain and bias. y is not x where row_of_slot is given.
void grouped_layer_norm(ThreadTeam& team, const GroupedNorm& rows, int64_t d, float eps, float* y);

}  // namespace stormcell::cpu
