#include "core/cpu/kernels/pool.h"

#include <cstring>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

/// Calls first(pixel) for the first real pixel under each window and rest(pixel) for the others, then done(output, count).
template <class First, class Rest, class Done>
void walk_windows(ThreadTeam& team, const Pool2dShape& s, const float* x, float* y, First&& first, Rest&& rest, Done&& done) {
  const int64_t out_height = s.out_height(), out_width = s.out_width();
  split_rows(team, s.images * out_height * out_width, s.channels * s.kernel_height * s.kernel_width, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      const int64_t ox = pixel % out_width, oy = pixel / out_width % out_height;
      const float* image = x + pixel / (out_width * out_height) * s.height * s.width * s.channels;
      float* out = y + pixel * s.channels;
      const int64_t y0 = oy * s.stride_height - s.pad_height, x0 = ox * s.stride_width - s.pad_width;
      int64_t count = 0;
      for (int64_t iy = std::max<int64_t>(0, y0); iy < std::min(s.height, y0 + s.kernel_height); ++iy)
        for (int64_t ix = std::max<int64_t>(0, x0); ix < std::min(s.width, x0 + s.kernel_width); ++ix) {
          const float* in = image + (iy * s.width + ix) * s.channels;
          count++ == 0 ? first(in, out) : rest(in, out);
        }
      done(out, count);
    }
  });
}

}  // namespace

void global_average_pool(ThreadTeam& team, const float* x, int64_t images, int64_t pixels, int64_t channels, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, images, pixels * channels, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = x + i * pixels * channels;
      float* out = y + i * channels;
      std::memcpy(out, image, static_cast<size_t>(channels) * sizeof(float));
      for (int64_t p = 1; p < pixels; ++p) table.add(out, image + p * channels, channels, out);
      table.scale(out, 1.0f / static_cast<float>(pixels), channels, out);
    }
  });
}

void max_pool2d(ThreadTeam& team, const Pool2dShape& s, const float* x, float* y) {
  const KernelTable& table = kernels();
  const size_t bytes = static_cast<size_t>(s.channels) * sizeof(float);
  walk_windows(
      team, s, x, y, [&](const float* in, float* out) { std::memcpy(out, in, bytes); },
      [&](const float* in, float* out) { table.max(in, out, s.channels, out); }, [](float*, int64_t) {});
}

void average_pool2d(ThreadTeam& team, const Pool2dShape& s, const float* x, bool count_padding, float* y) {
  const KernelTable& table = kernels();
  const size_t bytes = static_cast<size_t>(s.channels) * sizeof(float);
  walk_windows(
      team, s, x, y, [&](const float* in, float* out) { std::memcpy(out, in, bytes); },
      [&](const float* in, float* out) { table.add(in, out, s.channels, out); },
      [&](float* out, int64_t count) {
        const int64_t divisor = count_padding ? s.kernel_height * s.kernel_width : count;
        table.scale(out, 1.0f / static_cast<float>(divisor), s.channels, out);
      });
}

}  // namespace stormcell::cpu
