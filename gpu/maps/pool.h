// Windows of maps, channels last: their largest number or their mean. A thread takes a number of the result. Bound:
// reading the map once for each window that holds a pixel; the windows of neighbours come from caches.
#pragma once
#include "gpu/routing/rule.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct PoolArgs : KernelArgs<2> {
  enum { kX, kTo };
  int32_t height = 1, width = 1, channels = 1, out_height = 1, out_width = 1;
  int32_t size_h = 1, size_w = 1, stride = 1, padding = 0;
  bool largest = false;  ///< else the mean, in which pixels outside of the map are zeros
};

struct PoolKernel {
  using Args = PoolArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "pool";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const float* maps = a.in<float>(a.ref[Args::kX]);
    float* to = a.out<float>(a.ref[Args::kTo]);
    const int64_t all = static_cast<int64_t>(a.rows(a.ref[Args::kTo]).rows) * a.out_height * a.out_width * a.channels;
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      const int64_t channel = i % a.channels, pixel = i / a.channels, map = pixel / (a.out_height * a.out_width);
      const auto row = static_cast<int32_t>(pixel / a.out_width % a.out_height) * a.stride - a.padding,
                 column = static_cast<int32_t>(pixel % a.out_width) * a.stride - a.padding;
      const int32_t bottom = least(row + a.size_h, a.height), right = least(column + a.size_w, a.width);
      float top = -kInfinity, sum = 0;
      for (int32_t y = most(row, 0); y < bottom; ++y)
        for (int32_t c = most(column, 0); c < right; ++c) {
          const float number = x.load(maps + ((map * a.height + y) * a.width + c) * a.channels + channel);
          sum += number;
          if (number > top) top = number;
        }
      x.store(to + i, a.largest ? top : sum / static_cast<float>(a.size_h * a.size_w));
    }
  }
};

}  // namespace stormcell::gpu
