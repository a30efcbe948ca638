// Every hot loop of one instruction set, gathered into its table.
#pragma once
#include "core/cpu/kernels/attention.simd.h"
#include "core/cpu/kernels/block_product.simd.h"
#include "core/cpu/kernels/depthwise.simd.h"
#include "core/cpu/kernels/direct_conv2d.simd.h"
#include "core/cpu/kernels/epilogue.simd.h"
#include "core/cpu/kernels/norm.simd.h"
#include "core/cpu/kernels/peak.simd.h"
#include "core/cpu/kernels/planar_conv2d.simd.h"
#include "core/cpu/kernels/product.simd.h"
#include "core/cpu/kernels/resize.simd.h"
#include "core/cpu/kernels/rows.simd.h"

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
  table.q4_0 = block_kernels<BlockQ4_0>();
  table.q4_k = block_kernels<BlockQ4_K>();
  table.q5_k = block_kernels<BlockQ5_K>();
  table.q6_k = block_kernels<BlockQ6_K>();
  table.q8_0 = block_kernels<BlockQ8_0>();
  table.mxfp4 = block_kernels<BlockMxfp4>();
  table.epilogue = finish_product;
  table.attention = attend;
  table.rms_norm = rms_norm<float>;
  table.rms_norm_to_bf16 = rms_norm<uint16_t>;
  table.rms_row_scale = rms_row_scale;
  table.layer_norm = layer_norm;
  table.softmax_rows = softmax_rows;
  table.argmax_rows = argmax_rows;
  table.activate = activate_all<float>;
  table.activate_to_bf16 = activate_all<uint16_t>;
  table.add = add;
  table.multiply = multiply<float>;
  table.multiply_to_bf16 = multiply<uint16_t>;
  table.max = larger_of;
  table.scale = scale;
  table.copy_non_temporal = copy_non_temporal;
  table.round_row = round_row;
  table.widen_row = widen_row;
  table.combine_row = combine_row;
  table.rotate = rotate;
  table.convolve = convolve;
  table.depthwise = depthwise;
  table.resize = resize;
  table.convolve_planes = convolve_planes;
  table.peak_f32 = peak_f32;
  table.peak_bf16 = peak_bf16;
  table.sum = sum;
  return table;
}

}  // namespace stormcell::cpu::STORMCELL_ISA
