// Operations after a product, while its 64 columns are still in L1: scales, bias, activation, gate, residual; or the
// residual before the activation.
//
// Limit: the L1 reads of the tile and the memory traffic of y, multiply and residual; below 3 % of a product with k >=
// 256.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/vector_math.simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// `Out`: float, or uint16_t for bf16. `Way`: Store or StoreNonTemporal.
template <class Out, class Way, bool kResidualFirst>
inline void finish_product_to(const EpilogueTask& task) {
  with_activation(task.activation, [&](auto activation) {
    for (int64_t r = 0; r < task.rows; ++r) {
      const float* product = task.tile + r * task.ld_tile;
      const Floats scale =
          splat(task.row_scale ? task.scale * task.row_scale[task.row_of ? task.row_of[r] : r] : task.scale);
      for_vectors(task.columns, [&](int64_t c, auto count) {
        Floats v = load(product + c) * scale;
        if (task.bias) v = v + load_some(task.bias + c, count);
        if (kResidualFirst) v = v + load_some(task.residual + r * task.ld_extra + c, count);
        v = activate<decltype(activation)::value>(v);
        if (task.multiply) v = v * load_some(task.multiply + r * task.ld_extra + c, count);
        if (!kResidualFirst && task.residual) v = v + load_some(task.residual + r * task.ld_extra + c, count);
        Way::at(static_cast<Out*>(task.y) + r * task.ldy + c, v, count);
      });
    }
  });
}
template <class Out, class Way>
inline void finish_product_to(const EpilogueTask& task) {
  task.residual&& task.residual_first ? finish_product_to<Out, Way, true>(task)
                                      : finish_product_to<Out, Way, false>(task);
}
inline void finish_product(const EpilogueTask& task) {
  if (task.non_temporal) {
    finish_product_to<float, StoreNonTemporal>(task);
    end_non_temporal();
  } else {
    task.y_bf16 ? finish_product_to<uint16_t, Store>(task) : finish_product_to<float, Store>(task);
  }
}

/// f32 to bf16, nearest even, as core/base does it; an odd n gets one zero more.
inline void round_row(const float* from, int64_t n, uint16_t* to) {
  int64_t i = 0;
#ifdef __AVX512BF16__
  for (; i + 32 <= n; i += 32)
    _mm512_storeu_si512(to + i, (__m512i)_mm512_cvtne2ps_pbh(load(from + i + 16), load(from + i)));
#endif
  for (; i < n; ++i) {
    uint32_t u;
    __builtin_memcpy(&u, from + i, 4);
    to[i] = static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40
                                                                  : (u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
  if (n % 2) to[n] = 0;
}

}  // namespace stormcell::cpu::STORMCELL_ISA
