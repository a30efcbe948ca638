#include "core/cpu/kernels/norm.h"

#include <algorithm>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    table.rms_norm(x + begin * d, end - begin, d, gain, eps, y + begin * d);
  });
}

void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, uint16_t* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    table.rms_norm_to_bf16(x + begin * d, end - begin, d, gain, eps, y + begin * d);
  });
}

void rms_row_scale(ThreadTeam& team, const float* x, int64_t rows, int64_t d, float eps, float* out) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d,
             [&](int64_t begin, int64_t end) { table.rms_row_scale(x + begin * d, end - begin, d, eps, out + begin); });
}

void layer_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, const float* bias,
                float eps, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    table.layer_norm(x + begin * d, end - begin, d, gain, bias, eps, y + begin * d);
  });
}

void grouped_layer_norm(ThreadTeam& team, const GroupedNorm& rows, int64_t d, float eps, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows.offsets[rows.branches], d, [&](int64_t begin, int64_t end) {
    for (int32_t b = 0; b < rows.branches; ++b) {
      const int64_t first = std::max<int64_t>(begin, rows.offsets[b]),
                    last = std::min<int64_t>(end, rows.offsets[b + 1]);
      if (first >= last || !rows.gains[b]) continue;
      if (!rows.row_of_slot) {
        table.layer_norm(rows.x + first * d, last - first, d, rows.gains[b], rows.biases[b], eps, y + first * d);
        continue;
      }
      for (int64_t r = first; r < last; ++r)
        table.layer_norm(rows.x + rows.row_of_slot[r] * d, 1, d, rows.gains[b], rows.biases[b], eps, y + r * d);
    }
  });
}

}  // namespace stormcell::cpu
