// Dense products with packed weights: y = epilogue(x W^T).
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/thread_team.h"
#include "core/cpu/kernels/activation.h"
#include "core/cpu/kernels/packed_weight.h"

namespace stormcell::cpu {

/// Operations on the product p[r][c] before it is stored, in this order:
///   v = p * (scale * row_scale[r]) + bias[c];  v = activation(v);  v *= multiply[r][c];  v += residual[r][c]
/// with residual_first:
///   v = p * (scale * row_scale[r]) + bias[c];  v += residual[r][c];  v = activation(v);  v *= multiply[r][c]
struct Epilogue {
  const float* bias = nullptr;  ///< [n]
  Activation activation = Activation::none;
  const float* multiply = nullptr;  ///< [rows, ld_extra]: the other half of a gated unit
  const float* residual = nullptr;  ///< [rows, ld_extra]
  bool residual_first = false;      ///< the activation follows the sum with the residual
  int64_t ld_extra = 0;             ///< floats between rows of multiply and of residual
  /// [rows of x]: a norm before the product, folded into it (its gain is in the weights)
  const float* row_scale = nullptr;
  float scale = 1;
  bool to_bf16 = false;  ///< y is bf16: v is rounded to nearest even as it is stored
};

/// y[rows, n] = epilogue(x[rows, k] W^T), leading dimensions in elements.
///
/// Accumulates in f32. With bf16 weights and a processor with bf16 dot products the rows of x are rounded to bf16
/// first; without one the weights are widened in registers and x is not rounded. A row's result is bit for bit
/// independent of the thread count and of the other rows: every sum over k is one chain in order of k; with weights in
/// blocks, which never round x, a chain for each lane of a vector. y may be the same memory as multiply or residual
/// (same leading dimension) but must not overlap x or the weights; in bf16 it overlaps none of them.
void linear(ThreadTeam& team, const float* x, int64_t ldx, int64_t rows, const PackedWeight& weight,
            const Epilogue& epilogue, void* y, int64_t ldy, std::byte* scratch);
/// The same for rows in bf16, with an even k and ldx: they are read as they are if x would be rounded, else widened
/// first.
void linear(ThreadTeam& team, const uint16_t* x, int64_t ldx, int64_t rows, const PackedWeight& weight,
            const Epilogue& epilogue, void* y, int64_t ldy, std::byte* scratch);

/// Bytes of 64-byte aligned scratch that linear() wants, for any instruction set; x in f32 or bf16.
size_t linear_scratch_bytes(int64_t rows, int64_t k, DType weight_dtype, int threads, DType x_dtype = DType::f32);

}  // namespace stormcell::cpu
