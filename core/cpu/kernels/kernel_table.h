// The hot loops of one instruction set as a table of functions on raw pointers; each runs on one thread. Private to the kernels and their
// tests.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/cpu/kernels/activation.h"
#include "core/cpu/kernels/isa.h"

namespace stormcell::cpu {

/// A block of rows times one packed panel.
struct ProductTask {
  const void* x = nullptr;          ///< f32, or bf16 where the table says product_bf16_rounds_x
  int64_t ldx = 0;                  ///< elements
  const int32_t* row_of = nullptr;  ///< row i of the block is row row_of[i] of x; null: row i
  int64_t rows = 0;
  int64_t k = 0;
  const std::byte* panel = nullptr;
  const std::byte* next = nullptr;  ///< what the thread reads after this panel: fetched while it computes; null: nothing
  float* tile = nullptr;            ///< [rows][64] results, 64-byte aligned
};

/// The finished product of a block, on its way to y. Pointers are to the block's first row and column.
struct EpilogueTask {
  const float* tile = nullptr;  ///< [rows][64]
  int64_t rows = 0, columns = 0;
  float scale = 1;
  const float* row_scale = nullptr;
  const int32_t* row_of = nullptr;  ///< row i is scaled by row_scale[row_of[i]]; null: row_scale[i]
  const float* bias = nullptr;
  Activation activation = Activation::none;
  const float* multiply = nullptr;
  const float* residual = nullptr;
  int64_t ld_extra = 0;
  float* y = nullptr;
  int64_t ldy = 0;
};

struct KernelTable {
  Isa isa = Isa::generic;
  void (*product_f32)(const ProductTask&) = nullptr;
  void (*product_bf16)(const ProductTask&) = nullptr;
  bool product_bf16_rounds_x = false;  ///< product_bf16 wants x in bf16, rows padded with a zero to an even k
  void (*epilogue)(const EpilogueTask&) = nullptr;
  void (*round_row)(const float* from, int64_t n, uint16_t* to) = nullptr;  ///< f32 to bf16; an odd n gets one zero more
};

/// The table of active_isa().
const KernelTable& kernels();

}  // namespace stormcell::cpu
