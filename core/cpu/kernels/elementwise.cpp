#include "core/cpu/kernels/elementwise.h"

#include <algorithm>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/non_temporal.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {

namespace {
/// Floats of traffic that an element costs as much as.
int64_t cost_of(Activation activation) {
  return activation == Activation::none || activation == Activation::relu ? 1 : 4;
}
}  // namespace

void activate(ThreadTeam& team, Activation activation, const float* x, int64_t n, float* y) {
  const KernelTable& table = kernels();
  split_result(team, n, cost_of(activation), y, y == x,
               [&](int64_t begin, int64_t end, float* to) { table.activate(activation, x + begin, end - begin, to); });
}

void activate(ThreadTeam& team, Activation activation, const float* x, int64_t n, uint16_t* y) {
  const KernelTable& table = kernels();
  split_rows(team, n, cost_of(activation), [&](int64_t begin, int64_t end) {
    table.activate_to_bf16(activation, x + begin, end - begin, y + begin);
  });
}

void add(ThreadTeam& team, const float* a, const float* b, int64_t n, float* y) {
  const KernelTable& table = kernels();
  split_result(team, n, 1, y, y == a || y == b,
               [&](int64_t begin, int64_t end, float* to) { table.add(a + begin, b + begin, end - begin, to); });
}

void multiply(ThreadTeam& team, const float* a, const float* b, int64_t n, float* y) {
  const KernelTable& table = kernels();
  split_result(team, n, 1, y, y == a || y == b,
               [&](int64_t begin, int64_t end, float* to) { table.multiply(a + begin, b + begin, end - begin, to); });
}

void multiply(ThreadTeam& team, const float* a, const float* b, int64_t n, uint16_t* y) {
  const KernelTable& table = kernels();
  split_rows(team, n, 1,
             [&](int64_t begin, int64_t end) { table.multiply_to_bf16(a + begin, b + begin, end - begin, y + begin); });
}

void scale(ThreadTeam& team, const float* x, float factor, int64_t n, float* y) {
  const KernelTable& table = kernels();
  split_result(team, n, 1, y, y == x,
               [&](int64_t begin, int64_t end, float* to) { table.scale(x + begin, factor, end - begin, to); });
}

void scale_rows(ThreadTeam& team, const float* x, const float* factor, int64_t rows, int64_t d, float* y) {
  const KernelTable& table = kernels();
  // Split by elements: one large row takes all threads.
  split_result(team, rows * d, 1, y, y == x, [&](int64_t begin, int64_t end, float* to) {
    while (begin < end) {
      const int64_t r = begin / d, stop = std::min(end, (r + 1) * d);
      table.scale(x + begin, factor[r], stop - begin, to);
      to += stop - begin;
      begin = stop;
    }
  });
}

void add_scaled(const float* x, float factor, int64_t n, float* y) {
  const KernelTable& table = kernels();
  if (factor == 1) {
    table.add(y, x, n, y);
    return;
  }
  constexpr int64_t kBlock = 1024;  // products that stay in L1
  alignas(64) float product[kBlock];
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t count = std::min(kBlock, n - at);
    table.scale(x + at, factor, count, product);
    table.add(y + at, product, count, y + at);
  }
}

void add_row(ThreadTeam& team, const float* x, const float* row, int64_t rows, int64_t d, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) table.add(x + r * d, row, d, y + r * d);
  });
}

void multiply_row(ThreadTeam& team, const float* x, const float* row, int64_t rows, int64_t d, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) table.multiply(x + r * d, row, d, y + r * d);
  });
}

void softmax_rows(ThreadTeam& team, const float* x, int64_t rows, int64_t d, float* y) {
  const KernelTable& table = kernels();
  split_rows(team, rows, 4 * d,
             [&](int64_t begin, int64_t end) { table.softmax_rows(x + begin * d, end - begin, d, y + begin * d); });
}

void argmax_rows(ThreadTeam& team, const float* x, int64_t rows, int64_t d, int32_t* index, float* value) {
  const KernelTable& table = kernels();
  split_rows(team, rows, d, [&](int64_t begin, int64_t end) {
    table.argmax_rows(x + begin * d, end - begin, d, index + begin, value ? value + begin : nullptr);
  });
}

}  // namespace stormcell::cpu
