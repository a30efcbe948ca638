// The products of all branches of a router in one fork-join: each branch multiplies its own ragged set of rows by its
// own weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/cpu/kernels/linear.h"

namespace stormcell::cpu {

/// Rows and weights of the branches. Slots of branch b are [offsets[b], offsets[b + 1]).
struct GroupedRows {
  const float* x = nullptr;
  /// the rows in bf16 instead, of an even k and ldx: read as they are where x would be rounded
  const uint16_t* x_bf16 = nullptr;
  int64_t ldx = 0;                       ///< elements
  const int32_t* row_of_slot = nullptr;  ///< slot s reads row row_of_slot[s] of x; null: row s
  const int32_t* offsets = nullptr;      ///< [branches + 1], ascending, begins at 0
  int32_t branches = 0;
  /// [branches], all of one n, k and dtype; null: an absent branch, its slots are left untouched
  const PackedWeight* const* weights = nullptr;
  const float* const* biases = nullptr;  ///< [branches] of [n] or null; null: Epilogue::bias for all
};

/// y[slot] = epilogue(x[row of slot] W_b^T) for the slots of every present branch b: bit for bit what linear() gives
/// branch by branch. Branches without rows cost nothing. multiply, residual and y are indexed by slot, row_scale like
/// the rows of x (through row_of_slot).
void grouped_linear(ThreadTeam& team, const GroupedRows& rows, const Epilogue& epilogue, void* y, int64_t ldy,
                    std::byte* scratch);

/// Bytes of 64-byte aligned scratch; `slots` = offsets[branches].
size_t grouped_linear_scratch_bytes(int64_t slots, int64_t k, DType weight_dtype, int threads,
                                    DType x_dtype = DType::f32);

}  // namespace stormcell::cpu
