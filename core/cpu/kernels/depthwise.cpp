#include "core/cpu/kernels/depthwise.h"

#include <algorithm>

#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu {
namespace {

/// One direction of a convolution: extent and padding of the map, the kernel's steps in it.
struct Axis {
  int64_t extent, kernel, stride, padding, dilation, outputs;

  int64_t start(int64_t output) const { return output * stride - padding; }
  /// The taps of an output that lie in the map, [begin, end); empty: none does.
  struct Taps {
    int64_t begin, end;
  };
  Taps taps(int64_t output) const {
    const int64_t at = start(output), begin = at < 0 ? (-at + dilation - 1) / dilation : 0,
                  end = at < extent ? (extent - at + dilation - 1) / dilation : 0;
    return {std::min(begin, kernel), std::min(end, kernel)};
  }
  /// One past the last output whose taps all lie in the map, if any do from `output` on.
  int64_t whole_end() const {
    const int64_t most = extent + padding - dilation * (kernel - 1) - 1;
    return most < 0 ? 0 : std::min(outputs, most / stride + 1);
  }
};

}  // namespace

void depthwise_pixels(const Conv2dShape& s, const float* x, const float* weights, int64_t first, int64_t end,
                      float* y) {
  const KernelTable& table = kernels();
  const int64_t channels = s.in_channels, map = s.height * s.width * channels;
  const Axis rows{s.height, s.kernel_height, s.stride_height, s.pad_height, s.dilation_height, s.out_height()};
  const Axis columns{s.width, s.kernel_width, s.stride_width, s.pad_width, s.dilation_width, s.out_width()};
  DepthwiseTask task;
  task.ldx = s.stride_width * channels;
  task.ld_row = s.dilation_height * s.width * channels;
  task.ld_column = s.dilation_width * channels;
  task.ld_weights = s.kernel_width * channels;
  task.channels = channels;
  for (int64_t pixel = first; pixel < end; pixel += task.pixels) {
    const int64_t column = pixel % columns.outputs, row = pixel / columns.outputs % rows.outputs;
    const Axis::Taps down = rows.taps(row), across = columns.taps(column);
    task.rows = down.end - down.begin;
    task.columns = across.end - across.begin;
    // If a pixel's whole kernel lies in the row, so do its neighbours'; pixels at the edges go alone.
    const bool whole = task.columns == s.kernel_width;
    task.pixels = whole ? std::min(columns.whole_end(), column + end - pixel) - column : 1;
    task.y = y + (pixel - first) * channels;
    if (task.rows <= 0 || task.columns <= 0) {
      std::fill_n(task.y, task.pixels * channels, 0.0f);
      continue;
    }
    task.x = x + pixel / (columns.outputs * rows.outputs) * map +
             ((rows.start(row) + down.begin * s.dilation_height) * s.width + columns.start(column) +
              across.begin * s.dilation_width) *
                 channels;
    task.weights = weights + (down.begin * s.kernel_width + across.begin) * channels;
    table.depthwise(task);
  }
}

}  // namespace stormcell::cpu
