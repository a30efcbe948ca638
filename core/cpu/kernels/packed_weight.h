// Weights of dense products in the layout that the product kernels read: panels of 64 output columns.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "core/cpu/kernels/panel_columns.h"

namespace stormcell::cpu {

/// W of y = x W^T, W being [n, k]. The memory belongs to somebody else.
///
/// Panel p holds columns [64 p, 64 p + 64) of the output, k-major; one step of the product is always 256 bytes:
///   f32:  [k][64]             one k a step
///   bf16: [ceil(k / 2)][64][2] two k a step, as the bf16 dot instruction wants them
/// Columns beyond n and the odd half of the last bf16 step are zero. The same bytes serve every instruction set.
///
/// In a format of blocks nothing is packed: data are the n rows as a file has them, at any address.
struct PackedWeight {
  const std::byte* data = nullptr;  ///< panels: 64-byte aligned
  int64_t n = 0, k = 0;
  DType dtype = DType::f32;  ///< a format with panels (format_kernels.h): f32 or bf16; or one of blocks
};

inline int64_t panel_count(int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns; }
/// Bytes of one panel: 256 a step. Throws Error(failed) for a format without panels.
size_t panel_bytes(int64_t k, DType dtype);
inline size_t packed_bytes(int64_t n, int64_t k, DType dtype) {
  return static_cast<size_t>(panel_count(n)) * panel_bytes(k, dtype);
}

/// Weights as a file has them.
struct StoredWeight {
  const void* data = nullptr;
  DType dtype = DType::f32;  ///< f32, f16 or bf16
  int64_t n = 0, k = 0;
  bool transposed = false;  ///< false: [n, k] row-major; true: [k, n] row-major
  /// [k] or null: W[i][j] *= column_scale[j], which folds the gain of a norm before the product
  const float* column_scale = nullptr;
};

/// Packs panels [begin_panel, end_panel) to their place in `out`, the start of packed_bytes(n, k, to) bytes, 64-byte
/// aligned. Ranges may be packed by several threads at once. `to` is f32 or bf16 (rounded to nearest even); f16 weights
/// go to f32.
void pack(const StoredWeight& from, DType to, std::byte* out, int64_t begin_panel, int64_t end_panel);

}  // namespace stormcell::cpu
