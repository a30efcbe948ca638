// Operations on single elements and single rows, in f32. Outputs in f32 may be one of the inputs.
#pragma once
#include <cstdint>

#include "core/base/thread_team.h"
#include "core/cpu/kernels/activation.h"

namespace stormcell::cpu {

/// y = activation(x).
void activate(ThreadTeam& team, Activation activation, const float* x, int64_t n, float* y);
/// The same, rounded to bf16 as it is stored.
void activate(ThreadTeam& team, Activation activation, const float* x, int64_t n, uint16_t* y);
/// y = a + b.
void add(ThreadTeam& team, const float* a, const float* b, int64_t n, float* y);
/// y = a * b.
void multiply(ThreadTeam& team, const float* a, const float* b, int64_t n, float* y);
void multiply(ThreadTeam& team, const float* a, const float* b, int64_t n, uint16_t* y);
/// y = x * factor.
void scale(ThreadTeam& team, const float* x, float factor, int64_t n, float* y);
/// y[r] = x[r] * factor[r], over x[rows, d].
void scale_rows(ThreadTeam& team, const float* x, const float* factor, int64_t rows, int64_t d, float* y);
/// y += x * factor on this thread, product and sum rounded each, whatever the processor could do at once; by 1 the sum
/// alone.
void add_scaled(const float* x, float factor, int64_t n, float* y);
/// y[r] = x[r] + row: the same row [d] to each of the rows; y[r] = x[r] * row likewise.
void add_row(ThreadTeam& team, const float* x, const float* row, int64_t rows, int64_t d, float* y);
void multiply_row(ThreadTeam& team, const float* x, const float* row, int64_t rows, int64_t d, float* y);

/// y[r] = softmax(x[r]) over x[rows, d].
void softmax_rows(ThreadTeam& team, const float* x, int64_t rows, int64_t d, float* y);

/// index[r] = position of the largest element of x[r] over x[rows, d]: the lowest position wins ties, NaN never wins (0
/// if all are NaN). value[r], if not null, gets the element.
void argmax_rows(ThreadTeam& team, const float* x, int64_t rows, int64_t d, int32_t* index, float* value);

}  // namespace stormcell::cpu
