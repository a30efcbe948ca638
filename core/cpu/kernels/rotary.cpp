// Angles are computed once a row and shared by its heads, in pieces of 64 pairs: head sizes are unlimited and nothing
// is allocated.
#include "core/cpu/kernels/rotary.h"

#include <cmath>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {
constexpr int32_t kPiece = 64;
}

void rotate_halves(ThreadTeam& team, float* x, int64_t ldx, int64_t rows, int32_t heads, int32_t head_dim,
                   const int32_t* positions, float theta) {
  const KernelTable& table = kernels();
  const int32_t half = head_dim / 2;
  // A sine costs as much as moving some twenty floats.
  split_rows(team, rows, int64_t{heads} * head_dim + 20 * half, [&](int64_t begin, int64_t end) {
    float frequency[kPiece], cosines[kPiece], sines[kPiece];
    for (int32_t first = 0; first < half; first += kPiece) {
      const int32_t count = std::min(kPiece, half - first);
      for (int32_t i = 0; i < count; ++i)
        frequency[i] = 1.0f / std::pow(theta, static_cast<float>(2 * (first + i)) / static_cast<float>(head_dim));
      for (int64_t r = begin; r < end; ++r) {
        for (int32_t i = 0; i < count; ++i) {
          const float angle = static_cast<float>(positions[r]) * frequency[i];
          cosines[i] = std::cos(angle);
          sines[i] = std::sin(angle);
        }
        for (int32_t h = 0; h < heads; ++h) {
          float* head = x + r * ldx + int64_t{h} * head_dim + first;
          table.rotate(head, head + half, cosines, sines, count);
        }
      }
    }
  });
}

}  // namespace stormcell::cpu
