#include "core/cpu/kernels/embedding.h"

#include "core/base/number_format.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

void embed_rows(ThreadTeam& team, const void* table, DType dtype, const int32_t* ids, int64_t rows, int64_t d,
                float scale, float* y) {
  const KernelTable& kernel = kernels();
  const std::byte* bytes = static_cast<const std::byte*>(table);
  const auto bytes_of_row = static_cast<size_t>(row_bytes(dtype, d));
  const BlockKernels* blocks = block_kernels(dtype);
  const bool halves = is_halves(dtype);
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* row = bytes + static_cast<size_t>(ids[r]) * bytes_of_row;
      if (halves) {
        kernel.widen_row(reinterpret_cast<const uint16_t*>(row), scale, d, y + r * d);
      } else if (dtype == DType::f32) {
        kernel.scale(reinterpret_cast<const float*>(row), scale, d, y + r * d);
      } else if (blocks) {
        blocks->expand(row, d, y + r * d);
        if (scale != 1) kernel.scale(y + r * d, scale, d, y + r * d);
      } else {
        to_f32(row, dtype, y + r * d, static_cast<size_t>(d));
        kernel.scale(y + r * d, scale, d, y + r * d);
      }
    }
  });
}

}  // namespace stormcell::cpu
