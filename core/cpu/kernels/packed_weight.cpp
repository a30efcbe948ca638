#include "core/cpu/kernels/packed_weight.h"

#include <algorithm>
#include <cstring>

#include "core/cpu/kernels/format_kernels.h"

namespace stormcell::cpu {
namespace {

// A block of weights is brought to f32 [64 columns][kBlock] first, then written out k-major: both sides then run along
// cache lines.
constexpr int64_t kBlock = 64;

/// W[first + c][j + i] to block[c][i], one row of the file [n, k] after the other.
void read_rows(const StoredWeight& from, int64_t first, int64_t columns, int64_t j, int64_t count,
               float (*block)[kBlock]) {
  const std::byte* data = static_cast<const std::byte*>(from.data);
  for (int64_t c = 0; c < columns; ++c) {
    to_f32(data + static_cast<size_t>((first + c) * from.k + j) * element_size(from.dtype), from.dtype, block[c],
           static_cast<size_t>(count));
    if (from.column_scale)
      for (int64_t i = 0; i < count; ++i) block[c][i] *= from.column_scale[j + i];
  }
}

/// The same from a file [k, n].
void read_columns(const StoredWeight& from, int64_t first, int64_t columns, int64_t j, int64_t count,
                  float (*block)[kBlock]) {
  const std::byte* data = static_cast<const std::byte*>(from.data);
  for (int64_t i = 0; i < count; ++i) {
    float row[kPanelColumns];
    to_f32(data + static_cast<size_t>((j + i) * from.n + first) * element_size(from.dtype), from.dtype, row,
           static_cast<size_t>(columns));
    const float scale = from.column_scale ? from.column_scale[j + i] : 1.0f;
    for (int64_t c = 0; c < columns; ++c) block[c][i] = row[c] * scale;
  }
}

void pack_panel(const StoredWeight& from, int64_t panel, DType to, std::byte* out) {
  float block[kPanelColumns][kBlock];
  const int64_t first = panel * kPanelColumns, columns = std::min(kPanelColumns, from.n - first);
  for (int64_t j = 0; j < from.k; j += kBlock) {
    const int64_t count = std::min(kBlock, from.k - j);
    if (columns < kPanelColumns || count < kBlock) std::memset(block, 0, sizeof block);
    (from.transposed ? read_columns : read_rows)(from, first, columns, j, count, block);
    if (to == DType::f32) {
      float* p = reinterpret_cast<float*>(out) + j * kPanelColumns;
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = 0; c < kPanelColumns; ++c) p[i * kPanelColumns + c] = block[c][i];
    } else {
      uint16_t* p = reinterpret_cast<uint16_t*>(out) + j * kPanelColumns;
      for (int64_t i = 0; i < count; i += 2)
        for (int64_t c = 0; c < kPanelColumns; ++c) {
          p[i * kPanelColumns + 2 * c] = f32_to_bf16(block[c][i]);
          p[i * kPanelColumns + 2 * c + 1] = i + 1 < count ? f32_to_bf16(block[c][i + 1]) : uint16_t{0};
        }
    }
  }
}

}  // namespace

size_t panel_bytes(int64_t k, DType dtype) {
  const int64_t step = panel_kernels(dtype).panel_step;
  return static_cast<size_t>((k + step - 1) / step) * 4 * kPanelColumns;
}

void pack(const StoredWeight& from, DType to, std::byte* out, int64_t begin_panel, int64_t end_panel) {
  const size_t bytes = panel_bytes(from.k, to);
  for (int64_t panel = begin_panel; panel < end_panel; ++panel)
    pack_panel(from, panel, to, out + static_cast<size_t>(panel) * bytes);
}

}  // namespace stormcell::cpu
