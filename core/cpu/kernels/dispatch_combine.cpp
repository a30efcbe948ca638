#include "core/cpu/kernels/dispatch_combine.h"

#include <cstring>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

void gather_rows(ThreadTeam& team, const float* x, int64_t d, const int32_t* cells, int64_t slots, float* y) {
  split_rows(team, slots, d, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      std::memcpy(y + s * d, x + cells[s] * d, static_cast<size_t>(d) * sizeof(float));
  });
}

void combine_rows(ThreadTeam& team, const float* y, int64_t d, const int32_t* slot_of, const float* weight,
                  int64_t cells, int32_t fan_out, const float* residual, float* out) {
  const KernelTable& table = kernels();
  split_rows(team, cells, d * (fan_out + 1), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      table.combine_row(y, d, slot_of + c * fan_out, weight ? weight + c * fan_out : nullptr, fan_out,
                        residual ? residual + c * d : nullptr, out + c * d);
  });
}

}  // namespace stormcell::cpu
