// Chooses the kernel by the number of rows, as measured on an H200 (docs/benchmarks/gpu.md, few rows):
// - gemv takes eight rows of an expert at once. If no expert can get more and most get one or none, it is faster than
//   swapped or level: for 128 gated experts 2048/768, both products, by 18 % at one token, 9 % at eight; for eight
//   experts 768/3072 by 18 % at one, level at eight. Two rows for each of sixteen experts are level too; four take it 4
//   to 25 % longer than swapped takes for eight.
// - If some get more, a map with both takes two launches: 4 % faster at 16 tokens, 4 % slower at 32. There swapped
//   takes all.
// - Without tensor cores no other kernel reads weights once for a few rows.
// - large takes over from swapped if an expert's rows fill more than half of a 128-row tile.
#include "gpu/grouped/grouped.h"

namespace stormcell::gpu {

RegimeLimits choose_limits(bool has_wgmma, const ProductShape* products, int count, const ExpertLoads& rows) {
  bool pieces = true, tensor_cores = has_wgmma;
  for (int i = 0; i < count; ++i) {
    pieces = pieces && products[i].k * bytes_of(products[i].format) % 16 == 0;
    tensor_cores =
        tensor_cores && products[i].format == Format::bf16 && products[i].k % 8 == 0 && products[i].n % 8 == 0;
  }
  constexpr int32_t kFewRows = row_block(Regime::gemv);
  constexpr double kFewOnAverage = 1;
  RegimeLimits limits;
  limits.tensor_cores = tensor_cores;
  if (tensor_cores) {
    limits.gemv_rows = rows.most <= kFewRows && rows.mean <= kFewOnAverage ? kFewRows : 0;
    limits.swapped_rows = row_block(Regime::swapped);
  } else {
    limits.gemv_rows = pieces ? kFewRows : 0;
  }
  return limits;
}

bool may_occur(Regime regime, const RegimeLimits& limits, int64_t most_rows) {
  switch (regime) {
    case Regime::gemv:
      return limits.gemv_rows > 0 && most_rows > 0;
    case Regime::swapped:
      return limits.tensor_cores && limits.swapped_rows > limits.gemv_rows && most_rows > limits.gemv_rows;
    case Regime::large:
      return limits.tensor_cores && most_rows > most(limits.gemv_rows, limits.swapped_rows);
    default:
      return !limits.tensor_cores && most_rows > limits.gemv_rows;
  }
}

LaunchList launches(const RegimeLimits& limits, int64_t most_rows) {
  LaunchList list;
  const auto add = [&](Regime regime, Launch launch) {
    const bool occurs = may_occur(regime, limits, most_rows);
    if (occurs) list.launch[list.count++] = launch;
    return occurs;
  };
  if (!add(Regime::large, Launch::joined)) add(Regime::swapped, Launch::swapped);
  add(Regime::plain, Launch::plain);
  add(Regime::gemv, Launch::gemv);
  return list;
}

}  // namespace stormcell::gpu
