// Every hot loop of one instruction set, gathered into its table.
#pragma once
#include "core/cpu/kernels/epilogue.simd.h"
#include "core/cpu/kernels/product.simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline KernelTable all_kernels(Isa isa) {
  KernelTable table;
  table.isa = isa;
  table.product_f32 = multiply_panel_f32;
#ifdef __AVX512BF16__
  table.product_bf16 = multiply_panel_dot;
  table.product_bf16_rounds_x = true;
#else
  table.product_bf16 = multiply_panel_widened;
#endif
  table.epilogue = finish_product;
  table.round_row = round_row;
  return table;
}

}  // namespace stormcell::cpu::STORMCELL_ISA
