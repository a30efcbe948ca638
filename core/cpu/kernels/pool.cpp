#include "core/cpu/kernels/pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

/// Calls first(pixel) for the first real pixel under each window and rest(pixel) for the others, then done(output).
template <class First, class Rest, class Done>
void walk_windows(ThreadTeam& team, const Pool2dShape& s, const float* x, float* y, First&& first, Rest&& rest,
                  Done&& done) {
  const int64_t out_height = s.out_height(), out_width = s.out_width();
  split_rows(team, s.images * out_height * out_width, s.channels * s.kernel_height * s.kernel_width,
             [&](int64_t begin, int64_t end) {
               for (int64_t pixel = begin; pixel < end; ++pixel) {
                 const int64_t ox = pixel % out_width, oy = pixel / out_width % out_height;
                 const float* image = x + pixel / (out_width * out_height) * s.height * s.width * s.channels;
                 float* out = y + pixel * s.channels;
                 const int64_t y0 = oy * s.stride_height - s.pad_height, x0 = ox * s.stride_width - s.pad_width;
                 bool begun = false;
                 for (int64_t iy = std::max<int64_t>(0, y0); iy < std::min(s.height, y0 + s.kernel_height); ++iy)
                   for (int64_t ix = std::max<int64_t>(0, x0); ix < std::min(s.width, x0 + s.kernel_width); ++ix) {
                     const float* in = image + (iy * s.width + ix) * s.channels;
                     begun ? rest(in, out) : first(in, out);
                     begun = true;
                   }
                 done(out);
               }
             });
}

constexpr int64_t kRun = 32;
/// Pixels that one thread sums: as many runs as a power of two, so that their sum is one of those of the whole map.
constexpr int64_t kPart = 32 * kRun;
/// Whole parts in so many pixels; the last run may be shorter.
int64_t whole_parts(int64_t pixels) { return (pixels + kRun - 1) / kPart; }

/// Adds `count` rows of at most kSplitColumns floats to sum[channels], where row(i, to) gives one: those in pairs,
/// pairs of pairs, ... Its error grows with the logarithm of their number, where one running sum's grows with the
/// number.
template <class Row>
void add_in_pairs(const KernelTable& table, int64_t count, int64_t channels, float* sum, Row&& row) {
  float level[40][kSplitColumns], next[kSplitColumns];  // level[l], where bit l of the rows so far is set: of 2^l rows
  for (int64_t i = 0; i < count; ++i) {
    row(i, next);
    int l = 0;
    for (; i >> l & 1; ++l) table.add(level[l], next, channels, next);
    std::memcpy(level[l], next, static_cast<size_t>(channels) * sizeof(float));
  }
  for (int l = 0; count >> l != 0; ++l)
    if (count >> l & 1) table.add(level[l], sum, channels, sum);
}

/// sum[channels] of `pixels` pixels that lie `stride` apart, at most kSplitColumns of their channels: runs of kRun in
/// pairs.
void sum_pixels(const KernelTable& table, const float* x, int64_t pixels, int64_t stride, int64_t channels,
                float* sum) {
  const size_t bytes = static_cast<size_t>(channels) * sizeof(float);
  std::memset(sum, 0, bytes);
  add_in_pairs(table, (pixels + kRun - 1) / kRun, channels, sum, [&](int64_t run, float* to) {
    std::memcpy(to, x + run * kRun * stride, bytes);
    for (int64_t p = run * kRun + 1; p < std::min(pixels, (run + 1) * kRun); ++p)
      table.add(to, x + p * stride, channels, to);
  });
}

}  // namespace

void global_average_pool(ThreadTeam& team, const float* x, int64_t images, int64_t pixels, int64_t channels, float* y,
                         std::byte* scratch) {
  const KernelTable& table = kernels();
  // The sums of a map's whole parts go to scratch, the sum of the rest goes to y.
  const int64_t parts = whole_parts(pixels);
  float* const sums = reinterpret_cast<float*>(scratch);
  split_columns(
      team, images * (parts + 1), channels, std::min(pixels, kPart), [&](int64_t row, int64_t first, int64_t some) {
        const int64_t image = row / (parts + 1), part = row % (parts + 1);
        float* const to = (part < parts ? sums + (image * parts + part) * channels : y + image * channels) + first;
        sum_pixels(table, x + (image * pixels + part * kPart) * channels + first,
                   std::clamp<int64_t>(pixels - part * kPart, 0, kPart), channels, some, to);
      });
  split_columns(team, images, channels, parts + 1, [&](int64_t image, int64_t first, int64_t some) {
    float* const out = y + image * channels + first;
    add_in_pairs(table, parts, some, out, [&](int64_t part, float* to) {
      std::memcpy(to, sums + (image * parts + part) * channels + first, static_cast<size_t>(some) * sizeof(float));
    });
    table.scale(out, 1.0f / static_cast<float>(pixels), some, out);
  });
}

size_t global_average_pool_scratch_bytes(int64_t images, int64_t pixels, int64_t channels) {
  return static_cast<size_t>(images * whole_parts(pixels) * channels) * sizeof(float);
}

void max_pool2d(ThreadTeam& team, const Pool2dShape& s, const float* x, float* y) {
  const KernelTable& table = kernels();
  const size_t bytes = static_cast<size_t>(s.channels) * sizeof(float);
  walk_windows(
      team, s, x, y, [&](const float* in, float* out) { std::memcpy(out, in, bytes); },
      [&](const float* in, float* out) { table.max(in, out, s.channels, out); }, [](float*) {});
}

void average_pool2d(ThreadTeam& team, const Pool2dShape& s, const float* x, float* y) {
  const KernelTable& table = kernels();
  const float share = 1.0f / static_cast<float>(s.kernel_height * s.kernel_width);
  const size_t bytes = static_cast<size_t>(s.channels) * sizeof(float);
  walk_windows(
      team, s, x, y, [&](const float* in, float* out) { std::memcpy(out, in, bytes); },
      [&](const float* in, float* out) { table.add(in, out, s.channels, out); },
      [&](float* out) { table.scale(out, share, s.channels, out); });
}

}  // namespace stormcell::cpu
