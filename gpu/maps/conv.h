// Convolutions of maps, channels last. Without groups: an implicit product by the plain tiles, whose rows are pixels and
// whose depth are taps by channels, found in the map as they are read; nothing is laid out before. With groups: a thread
// sums the few numbers of a result. Bound: floating-point units; with groups the map's bytes.
#pragma once
#include "gpu/grouped/plain.h"
#include "gpu/pointwise/pointwise.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct ConvArgs : KernelArgs<3> {
  enum { kX, kTo, kResidual };
  int32_t weights = -1, biases = -1;  ///< handles: [outputs, kernel_h, kernel_w, depth] in f32, and [outputs]; -1: none
  int32_t height = 1, width = 1, channels = 1;
  int32_t out_height = 1, out_width = 1, outputs = 1;
  int32_t kernel_h = 1, kernel_w = 1, depth = 1;  ///< depth: channels of a group
  int32_t stride = 1, padding = 0, groups = 1;
  PointwiseOp activation = PointwiseOp::constant;  ///< constant: none
  bool residual_first = false;
  bool rounds = false;  ///< the map is rounded to bf16, the weights have been

  /// A pixel of the result: its map and its place.
  struct Pixel {
    int64_t map;
    int32_t y, x;
  };
  STORMCELL_BOTH Pixel pixel(int64_t i) const {
    return {i / (out_height * out_width), static_cast<int32_t>(i / out_width % out_height),
            static_cast<int32_t>(i % out_width)};
  }
  /// The number that a tap of a window reads; 0 outside of the map.
  STORMCELL_BOTH float number(const float* maps, const Pixel& p, int32_t dy, int32_t dx, int32_t channel) const {
    const int32_t y = p.y * stride + dy - padding, x = p.x * stride + dx - padding;
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    const float came = maps[((p.map * height + y) * width + x) * channels + channel];
    return rounds ? to_float(to_bf16(came)) : came;
  }
  /// Applies bias, activation and residual to a sum, before it is stored at `at` of the result.
  STORMCELL_BOTH float finished(float sum, int32_t output, int64_t at, const float* biases,
                                const float* residual) const {
    if (biases) sum += biases[output];
    if (residual && residual_first) sum += residual[at];
    if (activation != PointwiseOp::constant) sum = activated(activation, sum);
    if (residual && !residual_first) sum += residual[at];
    return sum;
  }
};

/// A convolution as the plain tile takes a product.
struct ImplicitProduct {
  int32_t n, k;
  const ConvArgs* args;
  const float *maps, *weights, *biases, *residual;
  float* y;

  template <int kPanels>
  STORMCELL_BOTH const float* weights_of(int32_t) const {
    return weights;
  }
  STORMCELL_BOTH float number(int32_t row, int32_t of_row) const {
    const int32_t tap = of_row / args->channels;
    return args->number(maps, args->pixel(row), tap / args->kernel_w, tap % args->kernel_w, of_row % args->channels);
  }
  STORMCELL_BOTH int64_t result_of(int32_t row) const { return static_cast<int64_t>(row) * n; }
  STORMCELL_BOTH void store(int64_t row, int32_t, int32_t column, const float (&sum)[1]) const {
    y[row + column] = args->finished(sum[0], column, row + column, biases, residual);
  }
};

struct ConvKernel {
  using Args = ConvArgs;
  using OneTile = PlainTile<1>;
  using Shared = OneTile::Shared;
  static constexpr const char* kName = "convolution";
  static constexpr int kThreads = OneTile::kThreads;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const float* weights = a.weight<float>(a.weights);
    if (!weights) return;
    ImplicitProduct p{a.outputs,
                      a.kernel_h * a.kernel_w * a.channels,
                      &a,
                      a.in<float>(a.ref[Args::kX]),
                      weights,
                      a.weight<float>(a.biases),
                      a.has(Args::kResidual) ? a.in<float>(a.ref[Args::kResidual]) : nullptr,
                      a.out<float>(a.ref[Args::kTo])};
    const int32_t pixels = a.rows(a.ref[Args::kTo]).rows * a.out_height * a.out_width,
                  row_blocks = parts(pixels, OneTile::kRows + 0),
                  column_blocks = parts(a.outputs, OneTile::kColumns + 0);
    for (int64_t t = x.block(); t < static_cast<int64_t>(row_blocks) * column_blocks; t += x.blocks()) {
      Tile tile;
      tile.first = static_cast<int32_t>(t % row_blocks) * OneTile::kRows;
      tile.rows = least(OneTile::kRows + 0, pixels - tile.first);
      tile.column_block = static_cast<int32_t>(t / row_blocks);
      OneTile::compute(x, p, tile);
    }
  }
};

/// Convolutions in groups, depthwise ones among them.
struct GroupedConvKernel {
  using Args = ConvArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "depthwise";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const float *maps = a.in<float>(a.ref[Args::kX]), *weights = a.weight<float>(a.weights),
                *biases = a.weight<float>(a.biases),
                *residual = a.has(Args::kResidual) ? a.in<float>(a.ref[Args::kResidual]) : nullptr;
    if (!weights) return;
    float* y = a.out<float>(a.ref[Args::kTo]);
    const int64_t all = static_cast<int64_t>(a.rows(a.ref[Args::kTo]).rows) * a.out_height * a.out_width * a.outputs;
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      const auto output = static_cast<int32_t>(i % a.outputs);
      const Args::Pixel pixel = a.pixel(i / a.outputs);
      const int32_t first = output / (a.outputs / a.groups) * a.depth;
      const float* w = weights + static_cast<int64_t>(output) * a.kernel_h * a.kernel_w * a.depth;
      float sum = 0;
      for (int32_t dy = 0; dy < a.kernel_h; ++dy)
        for (int32_t dx = 0; dx < a.kernel_w; ++dx)
          for (int32_t d = 0; d < a.depth; ++d) sum += a.number(maps, pixel, dy, dx, first + d) * *w++;
      x.store(y + i, a.finished(sum, output, i, biases, residual));
    }
  }
};

}  // namespace stormcell::gpu
