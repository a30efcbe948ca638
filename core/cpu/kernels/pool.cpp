#include "core/cpu/kernels/pool.h"

#include <algorithm>
#include <cstdint>
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

constexpr int64_t kChannels = 64, kRun = 32;

/// sum[channels] of `pixels` pixels that lie `stride` apart, at most kChannels of their channels. Runs of kRun one after another, those
/// in pairs, pairs of pairs, ...: its error grows with the logarithm of the pixels, where one running sum's grows with them.
void sum_in_pairs(const KernelTable& table, const float* x, int64_t pixels, int64_t stride, int64_t channels, float* sum) {
  float level[40][kChannels];  // level[l], where bit l of `runs` is set: of 2^l runs
  const size_t bytes = static_cast<size_t>(channels) * sizeof(float);
  uint64_t runs = 0;
  for (int64_t first = 0; first < pixels; first += kRun, ++runs) {
    std::memcpy(sum, x + first * stride, bytes);
    for (int64_t p = first + 1; p < std::min(pixels, first + kRun); ++p) table.add(sum, x + p * stride, channels, sum);
    int l = 0;
    for (; runs >> l & 1; ++l) table.add(level[l], sum, channels, sum);
    std::memcpy(level[l], sum, bytes);
  }
  std::memset(sum, 0, bytes);
  for (int l = 0; runs >> l != 0; ++l)
    if (runs >> l & 1) table.add(level[l], sum, channels, sum);
}

}  // namespace

void global_average_pool(ThreadTeam& team, const float* x, int64_t images, int64_t pixels, int64_t channels, float* y) {
  const KernelTable& table = kernels();
  const int64_t parts = (channels + kChannels - 1) / kChannels;
  split_rows(team, images * parts, pixels * std::min(channels, kChannels), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % parts * kChannels, some = std::min(channels - first, kChannels);
      float* out = y + i / parts * channels + first;
      sum_in_pairs(table, x + i / parts * pixels * channels + first, pixels, channels, some, out);
      table.scale(out, 1.0f / static_cast<float>(pixels), some, out);
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
