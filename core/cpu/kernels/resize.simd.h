// A row of a map that is resized bilinearly, channels last: along the two rows that it lies between first, then between
// them, as PyTorch does.
//
// Limit: memory. A map that shrinks is read in steps that the processor does not foresee, so the pixels of a later
// output are fetched.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int64_t kResizeAhead = 6;

template <class Way>
inline void resize_row(const ResizeTask& task) {
  const Floats upper = splat(1 - task.share), lower = splat(task.share);
  float* y = task.y;
  for (int64_t pixel = 0; pixel < task.pixels; ++pixel, y += task.channels) {
    const ResizeTap& tap = task.taps[pixel];
    const ResizeTap& later = task.taps[smaller(pixel + kResizeAhead, task.pixels - 1)];
    const int64_t a = tap.first * task.channels, b = tap.second * task.channels;
    const Floats left = splat(1 - tap.share), right = splat(tap.share);
    for_vectors(task.channels, [&](int64_t c, auto lanes) {
      __builtin_prefetch(task.above + later.first * task.channels + c);
      __builtin_prefetch(task.above + later.second * task.channels + c);
      __builtin_prefetch(task.below + later.first * task.channels + c);
      __builtin_prefetch(task.below + later.second * task.channels + c);
      const Floats over = load_some(task.above + a + c, lanes) * left + load_some(task.above + b + c, lanes) * right;
      const Floats under = load_some(task.below + a + c, lanes) * left + load_some(task.below + b + c, lanes) * right;
      Way::at(y + c, over * upper + under * lower, lanes);
    });
  }
}
inline void resize(const ResizeTask& task) {
  if (!task.non_temporal) return resize_row<Store>(task);
  resize_row<StoreNonTemporal>(task);
  end_non_temporal();
}

}  // namespace stormcell::cpu::STORMCELL_ISA
