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
void layer_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, const float* bias, float eps, float* y);

}  // namespace stormcell::cpu
