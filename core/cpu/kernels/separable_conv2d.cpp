// Output pixels are taken a block at a time: the depthwise sums of a block go to scratch, where all panels of the
// pointwise weights read them. A block's sums and one panel's results stay in L2, so memory sees x and y alone; apart,
// the map between would be written, fetched for writing and read.
#include "core/cpu/kernels/separable_conv2d.h"

#include <algorithm>

#include "core/cpu/kernels/depthwise.h"
#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/panel_epilogue.h"

namespace stormcell::cpu {
namespace {

constexpr int64_t kWidestPanel = 64;
/// Floats of a block's sums and a panel's results.
constexpr int64_t kBlockFloats = 16 * 1024;
/// Pixels below which threads do not share: two register tiles.
constexpr int64_t kLeastPixels = 12;

int64_t block_pixels(const Conv2dShape& s) {
  return std::max(kLeastPixels, kBlockFloats / (s.in_channels + kWidestPanel) / kLeastPixels * kLeastPixels);
}
int64_t block_sums(const Conv2dShape& s) { return (block_pixels(s) * s.in_channels + 15) / 16 * 16; }
int64_t thread_floats(const Conv2dShape& s) { return block_sums(s) + block_pixels(s) * kWidestPanel; }

}  // namespace

void separable_conv2d(ThreadTeam& team, const Conv2dShape& s, int64_t out_channels, const float* x,
                      const float* depthwise, const float* pointwise, const Epilogue& epilogue, float* y,
                      std::byte* scratch) {
  const KernelTable& table = kernels();
  // With stride 1 only the last row of a block's fields has not been read by the block before: it is fetched while that
  // one is multiplied. If maps keep their size, pixels of both are counted alike, and fields reach as far below their
  // pixel as there is padding.
  const int64_t below = s.pad_height * s.width, map_pixels = s.images * s.height * s.width;
  const bool fetches =
      s.stride_height == 1 && s.stride_width == 1 && s.out_height() == s.height && s.out_width() == s.width;
  const int64_t block = block_pixels(s), panels = conv_panel_count(out_channels);
  const int64_t pixels = s.images * s.out_height() * s.out_width();
  const bool non_temporal = is_non_temporal(epilogue, y, pixels, out_channels);
  team.split(pixels, kLeastPixels, [&](int64_t begin, int64_t end, int member) {
    float* const sums = reinterpret_cast<float*>(scratch) + member * thread_floats(s);
    ConvolutionTask task;
    task.x = sums;
    task.ldx = task.k = s.in_channels;
    task.tile = sums + block_sums(s);
    for (int64_t first = begin; first < end && !team.cancelled(); first += block) {
      task.pixels = std::min(block, end - first);
      depthwise_pixels(s, x, depthwise, first, first + task.pixels, sums);
      const int64_t coming = first + block + below;
      task.ld_coming = s.in_channels;
      for (int64_t p = 0; p < panels; ++p) {
        task.coming = p == 0 && fetches && coming + block <= map_pixels ? x + coming * s.in_channels : nullptr;
        const ConvPanel panel = conv_panel(out_channels, p);
        task.weights = pointwise + panel.first * s.in_channels;
        task.width = panel.width;
        table.convolve(task);
        const PanelSums made{task.tile,   panel.width, first,
                             task.pixels, panel.first, std::min(panel.width, out_channels - panel.first),
                             non_temporal};
        table.epilogue(panel_epilogue(epilogue, epilogue.bias, made, y, out_channels));
      }
    }
  });
}

size_t separable_conv2d_scratch_bytes(const Conv2dShape& s, int threads) {
  return static_cast<size_t>(threads) * static_cast<size_t>(thread_floats(s)) * sizeof(float);
}

}  // namespace stormcell::cpu
