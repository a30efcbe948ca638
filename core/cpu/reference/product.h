// y += x w^T, the inner part of every product, in an order that the compiler vectorises: a block of w stands transposed, and each x[k]
// multiplies a run of its columns.
// Limit: one multiplication and one addition a lane and cycle. Each block of depth is summed apart before it is added to y, which
// keeps the rounding error of f32 near that of sqrt(depth) additions.
#pragma once
#include <cstdint>

namespace stormcell::reference {

inline constexpr int64_t kPanel = 64;   ///< columns of a block: 4 registers of 16 floats
inline constexpr int64_t kDepth = 128;  ///< its depth: 32 KiB of floats stay in the first-level cache

/// y[r, 0..width) += sum over k < depth of x[r, k] * w[k, 0..width); w is [depth, kPanel]. The tag keeps the code that different
/// compiler settings make of one template apart.
template <class Scalar, class InstructionSet>
void add_products(const Scalar* x, int64_t x_stride, int64_t rows, const Scalar* w, int64_t depth, Scalar* y, int64_t y_stride, int64_t width) {
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    Scalar first[kPanel] = {}, second[kPanel] = {};
    const Scalar *a = x + r * x_stride, *b = a + x_stride;
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const Scalar *w0 = w + k * kPanel, *w1 = w0 + kPanel, *w2 = w1 + kPanel, *w3 = w2 + kPanel;
      const Scalar a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3], b0 = b[k], b1 = b[k + 1], b2 = b[k + 2], b3 = b[k + 3];
      for (int64_t j = 0; j < kPanel; ++j) {
        first[j] += (a0 * w0[j] + a1 * w1[j]) + (a2 * w2[j] + a3 * w3[j]);
        second[j] += (b0 * w0[j] + b1 * w1[j]) + (b2 * w2[j] + b3 * w3[j]);
      }
    }
    for (; k < depth; ++k)
      for (int64_t j = 0; j < kPanel; ++j) first[j] += a[k] * w[k * kPanel + j], second[j] += b[k] * w[k * kPanel + j];
    for (int64_t j = 0; j < width; ++j) y[r * y_stride + j] += first[j], y[(r + 1) * y_stride + j] += second[j];
  }
  for (; r < rows; ++r) {
    Scalar sums[kPanel] = {};
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < kPanel; ++j) sums[j] += x[r * x_stride + k] * w[k * kPanel + j];
    for (int64_t j = 0; j < width; ++j) y[r * y_stride + j] += sums[j];
  }
}

template <class Scalar>
using AddProducts = void (*)(const Scalar*, int64_t, int64_t, const Scalar*, int64_t, Scalar*, int64_t, int64_t);

/// The one for this machine, compiled once for each instruction set.
template <class Scalar>
AddProducts<Scalar> best_add_products();

}  // namespace stormcell::reference
