// Convolutions of maps, channels last, of one branch or of all branches of a decision. Without groups: an implicit
// product by the plain tiles, whose rows are pixels and whose depth are taps by channels, found in the map as they are
// read; nothing is laid out before. Separable: the product's rows are sums of each channel by itself, made as they are
// read, anew for each 64 outputs. With groups: a thread sums the few numbers of a result. Bound: floating-point units;
// with groups the map's bytes.
#pragma once
#include "gpu/grouped/plain.h"
#include "gpu/pointwise/pointwise.h"
#include "gpu/rows/branch_line.h"

namespace stormcell::gpu {

struct ConvArgs : KernelArgs<6> {
  /// kDecision: of maps of all branches, which kMap cuts into tiles and kOffsets counts in pixels; else there is one
  /// branch.
  enum { kX, kTo, kResidual, kDecision, kMap, kOffsets };
  DecisionPlaces decision;
  int64_t weights = 0,
          biases = 0;  ///< constants, handles by branch: [outputs, kernel_h, kernel_w, depth] in f32, [outputs]
  /// Handle of [channels, kernel_h, kernel_w] of a separable convolution, whose other weights are [outputs, channels].
  int32_t depthwise = -1;
  int32_t height = 1, width = 1, channels = 1;
  int32_t out_height = 1, out_width = 1, outputs = 1;
  int32_t kernel_h = 1, kernel_w = 1, depth = 1;  ///< depth: channels of a group
  int32_t stride = 1, padding = 0, groups = 1;
  PointwiseOp activation = PointwiseOp::constant;  ///< constant: none
  bool has_bias = false, residual_first = false;
  bool rounds = false;               ///< the map is rounded to bf16, the weights have been
  bool from_cells = false;           ///< maps are those of the decision's cells, not of its slots
  bool residual_from_cells = false;  ///< and so is the residual

  /// A pixel of the result: its map and its place.
  struct Pixel {
    int64_t map;
    int32_t y, x;
  };
  STORMCELL_BOTH Pixel pixel(int64_t i) const {
    return {i / (out_height * out_width), static_cast<int32_t>(i / out_width % out_height),
            static_cast<int32_t>(i % out_width)};
  }
  /// Maps of the one branch; one that writes to scratch has as many as it reads.
  STORMCELL_BOTH int32_t maps() const { return rows(ref[ref[kTo].entry >= 0 ? kTo : kX]).rows; }
};

/// Memory of the numbers of a convolution.
struct ConvMaps {
  const ConvArgs* args;
  const float *maps, *residual;
  float* y;
  BranchLine line;

  STORMCELL_DEVICE explicit ConvMaps(const ConvArgs& a)
      : args(&a),
        maps(a.in<float>(a.ref[ConvArgs::kX])),
        residual(a.has(ConvArgs::kResidual) ? a.in<float>(a.ref[ConvArgs::kResidual]) : nullptr),
        y(a.out<float>(a.ref[ConvArgs::kTo])) {
    if (a.has(ConvArgs::kDecision)) line = line_of(a, a.ref[ConvArgs::kDecision], a.ref[ConvArgs::kOffsets]);
  }
  /// [outputs, kernel_h, kernel_w, depth]; null: the branch has no convolution, or no rows.
  STORMCELL_BOTH const float* weights_of_branch(int32_t branch) const {
    return args->weight<float>(args->constants<int32_t>(args->weights)[branch]);
  }
  /// The number that a tap of a window reads, as it lies; 0 outside of the map.
  STORMCELL_BOTH float tap(const ConvArgs::Pixel& p, int32_t dy, int32_t dx, int32_t channel) const {
    const int32_t row = p.y * args->stride + dy - args->padding, column = p.x * args->stride + dx - args->padding;
    if (row < 0 || row >= args->height || column < 0 || column >= args->width) return 0;
    const int64_t map = line.source(p.map, args->from_cells);
    return maps[((map * args->height + row) * args->width + column) * args->channels + channel];
  }
  /// A number as it is multiplied.
  STORMCELL_BOTH float factor(float number) const { return args->rounds ? to_float(to_bf16(number)) : number; }
  /// Finishes the sum of an output of pixel `i` of the result, and stores it.
  STORMCELL_BOTH void store_number(float sum, int32_t branch, int64_t i, int32_t output) const {
    const int64_t at = i * args->outputs + output;
    if (args->has_bias) sum += args->weight<float>(args->constants<int32_t>(args->biases)[branch])[output];
    if (residual && args->residual_first) sum += residual[residual_at(i, output)];
    if (args->activation != PointwiseOp::constant) sum = activated(args->activation, sum);
    if (residual && !args->residual_first) sum += residual[residual_at(i, output)];
    y[at] = sum;
  }

 private:
  STORMCELL_BOTH int64_t residual_at(int64_t i, int32_t output) const {
    if (args->residual_from_cells) {
      const int64_t pixels = static_cast<int64_t>(args->out_height) * args->out_width;
      i = line.cell[i / pixels] * pixels + i % pixels;
    }
    return i * args->outputs + output;
  }
};

/// A convolution as the plain tile takes a product: a row is a pixel of the result.
struct ImplicitProduct : ConvMaps {
  static constexpr const char* kName = "convolution";
  int32_t n, k;

  STORMCELL_DEVICE explicit ImplicitProduct(const ConvArgs& a)
      : ConvMaps(a), n(a.outputs), k(a.kernel_h * a.kernel_w * a.channels) {}
  template <int kPanels>
  STORMCELL_BOTH const float* weights_of(int32_t branch) const {
    return weights_of_branch(branch);
  }
  STORMCELL_BOTH float number(int32_t row, int32_t of_row) const {
    const int32_t window = of_row / args->channels;
    return factor(tap(args->pixel(row), window / args->kernel_w, window % args->kernel_w, of_row % args->channels));
  }
  STORMCELL_BOTH int64_t result_of(int32_t row) const { return row; }
  STORMCELL_BOTH void store(int64_t row, int32_t branch, int32_t column, const float (&sum)[1]) const {
    store_number(sum[0], branch, row, column);
  }
};

/// A separable convolution likewise: number k of a row is the sum of channel k by itself.
struct SeparableProduct : ImplicitProduct {
  static constexpr const char* kName = "separable convolution";
  const float* depthwise;

  STORMCELL_DEVICE explicit SeparableProduct(const ConvArgs& a)
      : ImplicitProduct(a), depthwise(a.weight<float>(a.depthwise)) {
    k = a.channels;
  }
  STORMCELL_BOTH float number(int32_t row, int32_t channel) const {
    const ConvArgs::Pixel pixel = args->pixel(row);
    const float* weights = depthwise + static_cast<int64_t>(channel) * args->kernel_h * args->kernel_w;
    float sum = 0;
    for (int32_t dy = 0; dy < args->kernel_h; ++dy)
      for (int32_t dx = 0; dx < args->kernel_w; ++dx) sum += tap(pixel, dy, dx, channel) * *weights++;
    return factor(sum);
  }
};

template <class Product>
struct ProductOfMapsKernel {
  using Args = ConvArgs;
  using OneTile = PlainTile<1>;
  using Shared = OneTile::Shared;
  static constexpr const char* kName = Product::kName;
  static constexpr int kThreads = OneTile::kThreads;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const Product p(a);
    const int32_t column_blocks = parts(a.outputs, OneTile::kColumns + 0);
    if (a.has(Args::kDecision))
      of_branches(x, a, p, column_blocks);
    else
      of_maps(x, a, p, column_blocks);
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void of_maps(X& x, const Args& a, const Product& p, int32_t column_blocks) {
    if (!p.weights_of_branch(0)) return;
    const int32_t pixels = a.maps() * a.out_height * a.out_width, row_blocks = parts(pixels, OneTile::kRows + 0);
    for (int64_t t = x.block(); t < static_cast<int64_t>(row_blocks) * column_blocks; t += x.blocks()) {
      Tile tile;
      tile.first = static_cast<int32_t>(t % row_blocks) * OneTile::kRows;
      tile.rows = least(OneTile::kRows + 0, pixels - tile.first);
      tile.column_block = static_cast<int32_t>(t / row_blocks);
      OneTile::compute(x, p, tile);
    }
  }
  template <class X>
  STORMCELL_DEVICE static void of_branches(X& x, const Args& a, const Product& p, int32_t column_blocks) {
    const TileList list = tile_list(const_cast<int32_t*>(a.in<int32_t>(a.ref[Args::kMap])), Regime::plain);
    const int64_t tiles = tiles_of(list, column_blocks);
    for (int64_t t = x.block(); t < tiles; t += x.blocks()) {
      const Tile tile = find_tile(list, p.line.offsets, column_blocks, OneTile::kRows + 0, t);
      if (p.weights_of_branch(tile.expert)) OneTile::compute(x, p, tile);  // else the branch has no convolution
    }
  }
};

using ConvKernel = ProductOfMapsKernel<ImplicitProduct>;
using SeparableKernel = ProductOfMapsKernel<SeparableProduct>;

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
    const ConvMaps maps(a);
    const int64_t pixels =
        a.has(Args::kDecision) ? maps.line.rows() : static_cast<int64_t>(a.maps()) * a.out_height * a.out_width;
    for (int64_t i = grid_thread(x, kThreads); i < pixels * a.outputs; i += grid_threads(x, kThreads)) {
      const auto output = static_cast<int32_t>(i % a.outputs);
      const int32_t branch = maps.line.branch(i / a.outputs);
      const float* weights = maps.weights_of_branch(branch);
      if (!weights) continue;
      const Args::Pixel pixel = a.pixel(i / a.outputs);
      const int32_t first = output / (a.outputs / a.groups) * a.depth;
      weights += static_cast<int64_t>(output) * a.kernel_h * a.kernel_w * a.depth;
      float sum = 0;
      for (int32_t dy = 0; dy < a.kernel_h; ++dy)
        for (int32_t dx = 0; dx < a.kernel_w; ++dx)
          for (int32_t d = 0; d < a.depth; ++d) sum += maps.factor(maps.tap(pixel, dy, dx, first + d)) * *weights++;
      maps.store_number(sum, branch, i / a.outputs, output);
    }
  }
};

}  // namespace stormcell::gpu
