// One branch of a grouped product: the same units, the same kernel, hence the same bits.
#include "core/cpu/kernels/linear.h"

#include "core/cpu/kernels/grouped_linear.h"

namespace stormcell::cpu {
namespace {

void one_group(ThreadTeam& team, GroupedRows group, int64_t rows, const PackedWeight& weight, const Epilogue& epilogue,
               void* y, int64_t ldy, std::byte* scratch) {
  const int32_t offsets[2] = {0, static_cast<int32_t>(rows)};
  const PackedWeight* weights[1] = {&weight};
  group.offsets = offsets;
  group.branches = 1;
  group.weights = weights;
  grouped_linear(team, group, epilogue, y, ldy, scratch);
}

}  // namespace

size_t linear_scratch_bytes(int64_t rows, int64_t k, DType weight_dtype, int threads, DType x_dtype) {
  return grouped_linear_scratch_bytes(rows, k, weight_dtype, threads, x_dtype);
}

void linear(ThreadTeam& team, const float* x, int64_t ldx, int64_t rows, const PackedWeight& weight,
            const Epilogue& epilogue, void* y, int64_t ldy, std::byte* scratch) {
  GroupedRows group;
  group.x = x;
  group.ldx = ldx;
  one_group(team, group, rows, weight, epilogue, y, ldy, scratch);
}

void linear(ThreadTeam& team, const uint16_t* x, int64_t ldx, int64_t rows, const PackedWeight& weight,
            const Epilogue& epilogue, void* y, int64_t ldy, std::byte* scratch) {
  GroupedRows group;
  group.x_bf16 = x;
  group.ldx = ldx;
  one_group(team, group, rows, weight, epilogue, y, ldy, scratch);
}

}  // namespace stormcell::cpu
