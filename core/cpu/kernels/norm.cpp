#include "core/cpu/kernels/norm.h"

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) { table.rms_norm(x + begin * d, end - begin, d, gain, eps, y + begin * d); });
}

void rms_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, float eps, uint16_t* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d,
             [&](int64_t begin, int64_t end) { table.rms_norm_to_bf16(x + begin * d, end - begin, d, gain, eps, y + begin * d); });
}

void rms_row_scale(ThreadTeam& team, const float* x, int64_t rows, int64_t d, float eps, float* out) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) { table.rms_row_scale(x + begin * d, end - begin, d, eps, out + begin); });
}

void layer_norm(ThreadTeam& team, const float* x, int64_t rows, int64_t d, const float* gain, const float* bias, float eps, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d,
             [&](int64_t begin, int64_t end) { table.layer_norm(x + begin * d, end - begin, d, gain, bias, eps, y + begin * d); });
}

}  // namespace stormcell::cpu
