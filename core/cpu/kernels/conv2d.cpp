// A convolution is a product whose rows are the receptive fields of output pixels. They are gathered a block of pixels
// at a time, into scratch that stays in L2, padding as zeros; k runs over (kernel row, kernel column, channel), so that
// a kernel row is one contiguous copy.
//
// The gathering costs about 4 / out_channels of the product (6 % at 64 channels); in exchange stride, padding, dilation
// and groups need no kernels of their own. A 1 x 1 convolution gathers nothing. (im2col of a whole image goes through
// memory and is 2-5 times slower.)
#include "core/cpu/kernels/conv2d.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/align.h"
#include "core/cpu/kernels/depthwise.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/panel_epilogue.h"
#include "core/cpu/kernels/row_blocks.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }
int64_t pixels(const Conv2dShape& s) { return s.images * s.out_height() * s.out_width(); }
bool plain_rows(const Conv2dShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 && s.stride_width == 1 &&
         s.pad_height == 0 && s.pad_width == 0 && s.groups == 1;
}
/// Pixels whose fields of one group are about 384 KiB.
int64_t block_pixels(const Conv2dShape& s) {
  return std::clamp<int64_t>(96 * 1024 / std::max<int64_t>(1, s.group_k()), 12, kUnitRows);
}
/// Scratch of one thread's block: its fields, and the same in bf16.
struct BlockBytes {
  size_t fields, rounded;
};
BlockBytes block_bytes(const Conv2dShape& s, DType dtype) {
  const size_t floats = block_pixels(s) * padded(s.group_k());
  return {floats * sizeof(float), panel_kernels(dtype).rounds_x ? align_up(floats * sizeof(uint16_t)) : 0};
}
/// Few pixels and many weights (the last stages of a network): split the panels over the threads, not the pixels.
bool gather_first(const Conv2dShape& s, int threads) { return pixels(s) < 4 * threads * block_pixels(s); }

/// The field of one output pixel in one group: kernel_height * kernel_width * (in_channels / groups) floats.
void gather_field(const Conv2dShape& s, const float* x, int64_t pixel, int64_t group, float* to) {
  const int64_t channels = s.in_channels / s.groups, ox = pixel % s.out_width(),
                oy = pixel / s.out_width() % s.out_height();
  const float* image =
      x + pixel / (s.out_width() * s.out_height()) * s.height * s.width * s.in_channels + group * channels;
  const int64_t x0 = ox * s.stride_width - s.pad_width;
  const bool whole_rows = s.groups == 1 && s.dilation_width == 1 && x0 >= 0 && x0 + s.kernel_width <= s.width;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky, to += s.kernel_width * channels) {
    const int64_t iy = oy * s.stride_height - s.pad_height + ky * s.dilation_height;
    if (iy < 0 || iy >= s.height) {
      std::memset(to, 0, static_cast<size_t>(s.kernel_width * channels) * sizeof(float));
    } else if (whole_rows) {
      std::memcpy(to, image + (iy * s.width + x0) * s.in_channels,
                  static_cast<size_t>(s.kernel_width * channels) * sizeof(float));
    } else {
      for (int64_t kx = 0; kx < s.kernel_width; ++kx) {
        const int64_t ix = x0 + kx * s.dilation_width;
        if (ix < 0 || ix >= s.width)
          std::memset(to + kx * channels, 0, static_cast<size_t>(channels) * sizeof(float));
        else
          std::memcpy(to + kx * channels, image + (iy * s.width + ix) * s.in_channels,
                      static_cast<size_t>(channels) * sizeof(float));
      }
    }
  }
}

/// The epilogue of one group's columns: pointers moved to the group's first column.
Epilogue of_group(const Epilogue& e, int64_t column) {
  Epilogue g = e;
  if (g.bias) g.bias += column;
  if (g.multiply) g.multiply += column;
  if (g.residual) g.residual += column;
  g.row_scale = nullptr;
  return g;
}

/// One thread's block of gathered rows through all panels of a group.
void multiply_block(const KernelTable& table, const float* fields, int64_t rows, const PackedWeight& w,
                    const Epilogue& e, int64_t first_row, float* y, int64_t ldy, float* tile, uint16_t* rounded) {
  ProductTask product;
  product.x = fields;
  product.ldx = w.k;
  if (rounds_rows_of_x(w.dtype)) {
    product.ldx = padded(w.k);
    for (int64_t r = 0; r < rows; ++r) table.round_row(fields + r * w.k, w.k, rounded + r * product.ldx);
    product.x = rounded;
  }
  product.rows = rows;
  product.k = w.k;
  product.tile = tile;
  const size_t bytes = panel_bytes(w.k, w.dtype);
  const auto run_product = panel_kernels(w.dtype).product;
  for (int64_t p = 0; p < panel_count(w.n); ++p) {
    product.panel = w.data + static_cast<size_t>(p) * bytes;
    product.next = p + 1 < panel_count(w.n) ? product.panel + bytes : nullptr;
    (table.*run_product)(product);
    const int64_t column = p * kPanelColumns;
    const PanelSums sums{tile, kPanelColumns, first_row, rows, column, std::min(kPanelColumns, w.n - column)};
    table.epilogue(panel_epilogue(e, e.bias, sums, y, ldy));
  }
}

/// Pixels whose sums stay in L1 until the epilogue has read them.
int64_t depthwise_block(const Conv2dShape& s) { return std::max<int64_t>(1, 4096 / s.in_channels); }
int64_t depthwise_floats(const Conv2dShape& s) { return padded(depthwise_block(s) * s.in_channels + 16); }

void depthwise(ThreadTeam& team, const Conv2dShape& s, const float* x, const float* weights, const Epilogue& e,
               float* y, std::byte* scratch) {
  const KernelTable& table = kernels();
  const int64_t channels = s.in_channels, block = depthwise_block(s);
  const int64_t grain = std::max<int64_t>(1, kAloneFloats / 4 / (channels * s.kernel_height * s.kernel_width));
  const bool is_plain = !e.bias && e.activation == Activation::none && !e.multiply && !e.residual && e.scale == 1;
  team.split(pixels(s), grain, [&](int64_t begin, int64_t end, int member) {
    if (is_plain) return depthwise_pixels(s, x, weights, begin, end, y + begin * channels);
    float* sums = reinterpret_cast<float*>(scratch) + member * depthwise_floats(s);
    for (int64_t first = begin; first < end; first += block) {
      const int64_t count = std::min(block, end - first);
      depthwise_pixels(s, x, weights, first, first + count, sums);
      table.epilogue(panel_epilogue(e, e.bias, {sums, channels, first, count, 0, channels}, y, channels));
    }
  });
}

}  // namespace

size_t packed_conv2d_bytes(const Conv2dShape& s, DType dtype) {
  if (s.depthwise()) return static_cast<size_t>(s.group_k() * s.in_channels) * sizeof(float);
  return static_cast<size_t>(s.groups) * packed_bytes(s.out_channels / s.groups, s.group_k(), dtype);
}

void pack_conv2d(const Conv2dShape& s, const void* weights, DType stored, const float* channel_scale, DType to,
                 std::byte* out) {
  // [out, in / groups, ky, kx] to rows of (ky, kx, in / groups): one output channel after the other through a small
  // buffer of 64 rows.
  const int64_t channels = s.in_channels / s.groups, taps = s.kernel_height * s.kernel_width, k = s.group_k(),
                n = s.out_channels / s.groups;
  const std::byte* from = static_cast<const std::byte*>(weights);
  std::vector<float> read(k), rows(k * kPanelColumns);
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t first = 0; first < n; first += kPanelColumns) {
      const int64_t count = std::min(kPanelColumns, n - first);
      for (int64_t c = 0; c < count; ++c) {
        const int64_t channel = g * n + first + c;
        to_f32(from + static_cast<size_t>(channel * k) * element_size(stored), stored, read.data(),
               static_cast<size_t>(k));
        const float scale = channel_scale ? channel_scale[channel] : 1.0f;
        for (int64_t i = 0; i < channels; ++i)
          for (int64_t t = 0; t < taps; ++t) rows[c * k + t * channels + i] = read[i * taps + t] * scale;
      }
      if (s.depthwise()) {
        for (int64_t t = 0; t < taps; ++t) reinterpret_cast<float*>(out)[t * s.in_channels + g] = rows[t];
      } else {
        std::byte* panels = out + static_cast<size_t>(g) * packed_bytes(n, k, to);
        pack({rows.data(), DType::f32, count, k}, to,
             panels + static_cast<size_t>(first / kPanelColumns) * panel_bytes(k, to), 0, 1);
      }
    }
}

size_t conv2d_scratch_bytes(const Conv2dShape& s, DType dtype, int threads) {
  const size_t t = threads;
  if (s.depthwise()) return t * static_cast<size_t>(depthwise_floats(s)) * sizeof(float);
  if (plain_rows(s)) return linear_scratch_bytes(pixels(s), s.group_k(), dtype, threads);
  // Fewer images than planned for may go the first way where all of them go the second, which wants less.
  const size_t field = static_cast<size_t>(padded(s.group_k())) * sizeof(float);
  const int64_t first = std::min(pixels(s), 4 * threads * block_pixels(s) - 1);
  const size_t gathered = static_cast<size_t>(first) * field + linear_scratch_bytes(first, s.group_k(), dtype, threads);
  if (gather_first(s, threads)) return gathered;
  return std::max(gathered, t * (kTileBytes + block_bytes(s, dtype).fields + block_bytes(s, dtype).rounded));
}

void conv2d(ThreadTeam& team, const Conv2dShape& s, const float* x, const std::byte* weights, DType dtype,
            const Epilogue& epilogue, float* y, std::byte* scratch) {
  if (pixels(s) <= 0) return;
  const int64_t n = s.out_channels / s.groups, k = s.group_k(), rows = pixels(s);
  if (s.depthwise()) return depthwise(team, s, x, reinterpret_cast<const float*>(weights), epilogue, y, scratch);
  if (plain_rows(s))
    return linear(team, x, s.in_channels, rows, {weights, n, k, dtype}, of_group(epilogue, 0), y, s.out_channels,
                  scratch);

  const auto weight_of = [&](int64_t g) {
    return PackedWeight{weights + static_cast<size_t>(g) * packed_bytes(n, k, dtype), n, k, dtype};
  };
  if (gather_first(s, team.size())) {
    float* fields = reinterpret_cast<float*>(scratch);
    std::byte* rest = scratch + static_cast<size_t>(rows * padded(k)) * sizeof(float);
    for (int64_t g = 0; g < s.groups; ++g) {
      split_rows(team, rows, k, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) gather_field(s, x, r, g, fields + r * padded(k));
      });
      linear(team, fields, padded(k), rows, weight_of(g), of_group(epilogue, g * n), y + g * n, s.out_channels, rest);
    }
    return;
  }
  const KernelTable& table = kernels();
  const int64_t block = block_pixels(s);
  const BlockBytes bytes = block_bytes(s, dtype);
  team.split(rows, 1, [&](int64_t begin, int64_t end, int member) {
    std::byte* mine = scratch + static_cast<size_t>(member) * (kTileBytes + bytes.fields + bytes.rounded);
    float* fields = reinterpret_cast<float*>(mine + kTileBytes);
    uint16_t* rounded = reinterpret_cast<uint16_t*>(mine + kTileBytes + bytes.fields);
    for (int64_t first = begin; first < end; first += block) {
      const int64_t count = std::min(block, end - first);
      for (int64_t g = 0; g < s.groups; ++g) {
        for (int64_t r = 0; r < count; ++r) gather_field(s, x, first + r, g, fields + r * k);
        multiply_block(table, fields, count, weight_of(g), of_group(epilogue, g * n), first, y + g * n, s.out_channels,
                       reinterpret_cast<float*>(mine), rounded);
      }
    }
  });
}

}  // namespace stormcell::cpu
