// y += x w^T, the inner part of every product, in an order that the compiler vectorises. A block of w is transposed,
// and each x[k] multiplies a run of its columns, for several rows at once; their sums stay in registers. Limit: two
// fused multiply-adds a cycle. Measured a thread (f32): SSE 30, AVX2 83, AVX-512 195 GFLOP/s by GCC 12; 22, 50 and 190
// by clang 14. Each block of depth is summed separately before it is added to y. That keeps the rounding error of f32
// near that of sqrt(depth) additions.
#pragma once
#include <cstdint>

namespace stormcell::reference {

inline constexpr int64_t kPanel = 64;   ///< columns of a block of w
inline constexpr int64_t kDepth = 128;  ///< its depth: 32 KiB of floats stay in the first-level cache

/// Number of rows whose sums are held at once, and bytes of each: a power of two of columns. They were found by
/// measuring: with other sizes the sums leave the registers, and the speed halves.
struct Generic {
  static constexpr int64_t kRows = 4, kBytes = 32;
};
struct Avx2 {
  static constexpr int64_t kRows = 6, kBytes = 64;
};
struct Avx512 {
  static constexpr int64_t kRows = 8, kBytes = 128;
};

/// y[rows, width] += x[rows, depth] w[depth, width], `width` of the block's columns. The tag also keeps the code apart
/// that different compiler settings make of one template.
template <class Scalar, int64_t rows, class InstructionSet>
void add_rows(const Scalar* x, int64_t x_stride, const Scalar* w, int64_t depth, Scalar* y, int64_t y_stride,
              int64_t width) {
  constexpr int64_t kColumns = InstructionSet::kBytes / static_cast<int64_t>(sizeof(Scalar));
  for (int64_t first = 0; first < width; first += kColumns) {
    Scalar sums[rows][kColumns] = {};
    for (int64_t k = 0; k < depth; ++k) {
      const Scalar* run = w + k * kPanel + first;
#pragma GCC unroll 16
      for (int64_t r = 0; r < rows; ++r) {
        const Scalar factor = x[r * x_stride + k];
#if !defined( \
    __clang__)  // GCC makes vectors only of what it has not unrolled: 83 GFLOP/s with AVX2, 2.6 without this line
#pragma GCC unroll 1
#endif
        for (int64_t j = 0; j < kColumns; ++j) sums[r][j] += factor * run[j];
      }
    }
    const int64_t count = width - first < kColumns ? width - first : kColumns;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < count; ++j) y[r * y_stride + first + j] += sums[r][j];
  }
}

/// y[r, 0..width) += sum over k < depth of x[r, k] * w[k, 0..width); w is [depth, kPanel].
template <class Scalar, class InstructionSet>
void add_products(const Scalar* x, int64_t x_stride, int64_t rows, const Scalar* w, int64_t depth, Scalar* y,
                  int64_t y_stride, int64_t width) {
  constexpr int64_t kRows = InstructionSet::kRows;
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    add_rows<Scalar, kRows, InstructionSet>(x + r * x_stride, x_stride, w, depth, y + r * y_stride, y_stride, width);
  for (; r < rows; ++r)
    add_rows<Scalar, 1, InstructionSet>(x + r * x_stride, x_stride, w, depth, y + r * y_stride, y_stride, width);
}

template <class Scalar>
using AddProducts = void (*)(const Scalar*, int64_t, int64_t, const Scalar*, int64_t, Scalar*, int64_t, int64_t);

/// Selects the code for this machine: floats and doubles are compiled once for each instruction set (product.cpp).
/// Other numbers have no vector instructions.
template <class Scalar>
AddProducts<Scalar> best_add_products() {
  return add_products<Scalar, Generic>;
}
template <>
AddProducts<float> best_add_products();
template <>
AddProducts<double> best_add_products();

}  // namespace stormcell::reference
