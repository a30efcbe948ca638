// The hot loops of one instruction set as a table of functions on raw pointers; each runs on one thread. Private to the
// kernels and their tests.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/cpu/kernels/activation.h"
#include "core/cpu/kernels/isa.h"

namespace stormcell::cpu {

/// A block of rows times one packed panel.
struct ProductTask {
  const void* x = nullptr;          ///< f32, or bf16 where the table says product_bf16_rounds_x
  int64_t ldx = 0;                  ///< elements
  const int32_t* row_of = nullptr;  ///< row i of the block is row row_of[i] of x; null: row i
  int64_t rows = 0;
  int64_t k = 0;
  const std::byte* panel = nullptr;  ///< packed, or `columns` rows of weights in blocks
  int64_t columns = 64;              ///< of the panel; a packed one has 64, of which those beyond them are zero
  /// what the thread reads after this panel: fetched while it computes; null: nothing
  const std::byte* next = nullptr;
  float* tile = nullptr;  ///< [rows][64] results, 64-byte aligned
};

/// The finished product of a block, on its way to y. Pointers are to the block's first row and column.
struct EpilogueTask {
  const float* tile = nullptr;  ///< [rows][ld_tile], readable up to the next multiple of 16 columns
  int64_t ld_tile = 64;
  int64_t rows = 0, columns = 0;
  float scale = 1;
  const float* row_scale = nullptr;
  const int32_t* row_of = nullptr;  ///< row i is scaled by row_scale[row_of[i]]; null: row_scale[i]
  const float* bias = nullptr;
  Activation activation = Activation::none;
  const float* multiply = nullptr;
  const float* residual = nullptr;
  bool residual_first = false;
  int64_t ld_extra = 0;
  void* y = nullptr;  ///< f32, or bf16 where y_bf16 says so
  int64_t ldy = 0;    ///< elements
  bool y_bf16 = false;
  /// y is f32, 64-byte aligned, its columns and ldy multiples of 16: stored past the caches
  bool non_temporal = false;
};

/// Output pixels of a convolution, some rows of them, times one panel. A pixel's field is kernel_rows runs of k floats.
struct ConvolutionTask {
  const float* x = nullptr;  ///< the field of the first pixel of the first row
  int64_t ldx = 0, ld_row = 0,
          ld_out_row = 0;            ///< floats between neighbouring pixels' fields, runs of a field, rows of pixels
  int64_t pixels = 0, out_rows = 1;  ///< pixels of one row, and rows
  int64_t kernel_rows = 1, k = 0;
  const float* weights = nullptr;  ///< [kernel_rows * k][width]
  int64_t width = 0;               ///< 16, 32 or 64
  float* tile = nullptr;           ///< [out_rows * pixels][width] sums, 64-byte aligned
  /// what the thread reads after this task, ld_coming floats a pixel: fetched while it computes; or null
  const float* coming = nullptr;
  int64_t ld_coming = 0;
};

/// Neighbouring output pixels of one row of a depthwise convolution, all of which see the same rows and columns of the
/// kernel.
struct DepthwiseTask {
  const float* x = nullptr;  ///< begin of the first pixel's field, in these rows and columns
  int64_t ldx = 0, ld_row = 0,
          ld_column = 0;  ///< floats between neighbouring pixels' fields, and between rows and columns of a field
  int64_t rows = 1, columns = 1;   ///< of the kernel
  const float* weights = nullptr;  ///< [rows][columns][channels]
  int64_t ld_weights = 0;          ///< floats between rows
  int64_t pixels = 0, channels = 0;
  float* y = nullptr;  ///< [pixels][channels] sums
};

/// Between which pixels of a side an output pixel of a resized map lies.
struct ResizeTap {
  int64_t first = 0, second = 0;
  float share = 0;  ///< share of the second
};

/// One row of a map that is resized bilinearly.
struct ResizeTask {
  const float *above = nullptr, *below = nullptr;  ///< rows between which it lies
  float share = 0;                                 ///< share of the one below
  const ResizeTap* taps = nullptr;                 ///< [pixels], of a row
  int64_t pixels = 0, channels = 0;
  float* y = nullptr;         ///< [pixels][channels]
  bool non_temporal = false;  ///< y is 64-byte aligned, channels a multiple of 16: stored past the caches
};

/// Output pixels of a convolution in planes, some rows of them, for one group of output channels. A vector beyond the
/// last pixel of x is read, and changes nothing.
struct PlanarTask {
  const float* x = nullptr;        ///< the field of the first pixel of the first row, in the first plane
  int64_t x_plane = 0, x_row = 0;  ///< floats between planes, and rows
  int64_t channels = 0, kernel_rows = 1, kernel_columns = 1;
  const float* weights = nullptr;  ///< [kernel_rows][kernel_columns][channels][outputs]
  const float* bias = nullptr;     ///< [outputs] or null
  bool relu = false;
  const float* residual = nullptr;  ///< laid out as y, which it may be; or null
  int64_t outputs = 0, rows = 1, pixels = 0;
  float* y = nullptr;
  int64_t y_plane = 0, y_row = 0;
};

/// Some queries of the heads that share one key head, against all keys of their sequence. Pointers are to the first of
/// each.
struct AttentionTask {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  int64_t ldq = 0, ldk = 0, ldv = 0;
  int32_t heads = 1, head_dim = 0, value_dim = 0;
  int64_t queries = 0, keys = 0;
  int64_t position = 0;  ///< position of the first query
  // Keys and values in pages of page_rows rows: addresses of the pages of keys, of values, and the head's first column
  // there; k, v is null.
  const uint64_t *k_pages = nullptr, *v_pages = nullptr;
  int64_t page_rows = 0, k_column = 0, v_column = 0;
  bool bf16 = false;  ///< keys and values lie in pages, and are bf16 there
  float scale = 1;
  bool causal = false;
  int32_t window = 0;
  /// Bias of key j and the query at position i: bias[h * ld_bias + j + i * bias_step + bias_origin]; null: none.
  /// `bias_step` is -1 for a bias by distance, the length of a row for one with a row for each query.
  const float* bias = nullptr;
  int64_t ld_bias = 0, bias_origin = 0, bias_step = -1;
  const float* sinks = nullptr;       ///< [heads] or null: a score of each query of the head that has no value
  const int32_t* key_mask = nullptr;  ///< [keys] or null
  void* out = nullptr;                ///< f32, or bf16 where out_bf16 says so
  int64_t ldo = 0;                    ///< elements
  bool out_bf16 = false;
  float* scratch = nullptr;  ///< attention_task_floats()
};
/// Query rows (queries times heads) of a task at most, unless one query of all heads is more; and keys that it takes at
/// a time.
inline constexpr int64_t kAttentionRows = 128, kAttentionKeys = 256;
/// Rows of bf16 that are widened at a time.
inline constexpr int64_t kAttentionWidened = 64;
inline int64_t attention_task_floats(int64_t rows, int64_t head_dim, int64_t value_dim) {
  const int64_t value_columns = (value_dim + 63) / 64 * 64;
  return kAttentionKeys * head_dim + kAttentionKeys * value_columns  // packed keys and values
         + rows * (kAttentionKeys + 16) + rows * value_columns       // scores and sums
         + kAttentionKeys + 2 * ((rows + 15) / 16 * 16)              // mask, largest score and total of each row
         + kAttentionWidened * (head_dim > value_dim ? head_dim : value_dim);
}

/// Kernels of weights in one format of blocks, as files hold them.
struct BlockKernels {
  /// n elements, whole blocks.
  void (*expand)(const std::byte* blocks, int64_t n, float* to) = nullptr;
  /// x is f32. A row of the panel is as many whole blocks as hold k elements, and rows follow one another.
  void (*product)(const ProductTask&) = nullptr;
};

struct KernelTable {
  Isa isa = Isa::generic;

  void (*product_f32)(const ProductTask&) = nullptr;
  void (*product_bf16)(const ProductTask&) = nullptr;
  bool product_bf16_rounds_x = false;  ///< product_bf16 wants x in bf16, rows padded with a zero to an even k
  BlockKernels q4_0, q4_k, q5_k, q6_k, q8_0, mxfp4;
  void (*epilogue)(const EpilogueTask&) = nullptr;
  void (*attention)(const AttentionTask&) = nullptr;

  // Rows of d floats; see norm.h and elementwise.h.
  void (*rms_norm)(const float* x, int64_t rows, int64_t d, const float* gain, float eps, float* y) = nullptr;
  void (*rms_norm_to_bf16)(const float* x, int64_t rows, int64_t d, const float* gain, float eps,
                           uint16_t* y) = nullptr;
  void (*rms_row_scale)(const float* x, int64_t rows, int64_t d, float eps, float* out) = nullptr;
  void (*layer_norm)(const float* x, int64_t rows, int64_t d, const float* gain, const float* bias, float eps,
                     float* y) = nullptr;
  void (*softmax_rows)(const float* x, int64_t rows, int64_t d, float* y) = nullptr;
  void (*argmax_rows)(const float* x, int64_t rows, int64_t d, int32_t* index, float* value) = nullptr;

  // n floats.
  void (*activate)(Activation, const float* x, int64_t n, float* y) = nullptr;
  void (*activate_to_bf16)(Activation, const float* x, int64_t n, uint16_t* y) = nullptr;
  void (*add)(const float* a, const float* b, int64_t n, float* y) = nullptr;
  void (*multiply)(const float* a, const float* b, int64_t n, float* y) = nullptr;
  void (*multiply_to_bf16)(const float* a, const float* b, int64_t n, uint16_t* y) = nullptr;
  void (*max)(const float* a, const float* b, int64_t n, float* y) = nullptr;
  void (*scale)(const float* x, float factor, int64_t n, float* y) = nullptr;
  /// y = x, past the caches; see non_temporal.h.
  void (*copy_non_temporal)(const float* x, int64_t n, float* y) = nullptr;

  /// f32 to bf16; an odd n gets one zero more.
  void (*round_row)(const float* from, int64_t n, uint16_t* to) = nullptr;
  /// bf16 to f32, times scale.
  void (*widen_row)(const uint16_t* from, float scale, int64_t n, float* to) = nullptr;
  /// out = residual + sum of weight[j] * y[slot_of[j]] over rows of d; see dispatch_combine.h.
  void (*combine_row)(const float* y, int64_t d, const int32_t* slot_of, const float* weight, int32_t fan_out,
                      const float* residual, float* out) = nullptr;
  /// (a, b) = (a cos - b sin, b cos + a sin) for the two halves of a head.
  void (*rotate)(float* a, float* b, const float* cosines, const float* sines, int64_t half) = nullptr;

  void (*convolve)(const ConvolutionTask&) = nullptr;
  void (*depthwise)(const DepthwiseTask&) = nullptr;
  void (*resize)(const ResizeTask&) = nullptr;

  /// The sum of n floats.
  float (*sum)(const float* x, int64_t n) = nullptr;

  /// FLOP done by one call of a loop that only multiplies and adds in registers, about 20 us. For the probes.
  double (*peak_f32)() = nullptr;
  double (*peak_bf16)() = nullptr;

  void (*convolve_planes)(const PlanarTask&) = nullptr;
};

/// The table of active_isa().
const KernelTable& kernels();

}  // namespace stormcell::cpu
