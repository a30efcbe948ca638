#include "core/cpu/kernels/embedding.h"

#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

void embed_rows(ThreadTeam& team, const void* table, DType dtype, const int32_t* ids, int64_t rows, int64_t d,
                float scale, float* y) {
  const KernelTable& kernel = kernels();
  const std::byte* bytes = static_cast<const std::byte*>(table);
  const size_t row_bytes = static_cast<size_t>(d) * element_size(dtype);
  const bool halves = is_halves(dtype);
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* row = bytes + static_cast<size_t>(ids[r]) * row_bytes;
      if (halves) {
        kernel.widen_row(reinterpret_cast<const uint16_t*>(row), scale, d, y + r * d);
      } else if (dtype == DType::f32) {
        kernel.scale(reinterpret_cast<const float*>(row), scale, d, y + r * d);
      } else {
        to_f32(row, dtype, y + r * d, static_cast<size_t>(d));
        kernel.scale(y + r * d, scale, d, y + r * d);
      }
    }
  });
}

}  // namespace stormcell::cpu
