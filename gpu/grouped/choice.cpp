// Which kernel for how many rows. The limits follow from counting, not from measuring (docs/benchmarks/todo.md says what to measure):
// - gemv does 8 multiply-adds a row for each sixteen bytes of weights beside 8 conversions; at 19 bytes a clock and multiprocessor, an
//   H200's share of its memory, five rows keep the floating-point units about 60 % busy and eight all of it. Without tensor cores nothing
//   else reads weights once for a few rows, so there it goes to eight.
// - With tensor cores swapped reads them once too, so gemv is left to calls in which no expert can get more than four rows (a few cells of
//   decoding): there one launch does all, and it alone fills a card whose experts have few columns. Every regime that may occur costs a
//   launch, and an empty one the 1.3 us that docs/benchmarks/gpu.md cites; a map with both is possible (RegimeLimits) and to be measured.
// - swapped and large meet where an expert's rows fill more than half of a 128-row tile.
#include "gpu/grouped/grouped.h"

namespace stormcell::gpu {

RegimeLimits choose_limits(bool has_wgmma, const ProductShape* products, int count, int64_t most_rows) {
  bool pieces = true, tensor_cores = has_wgmma;
  for (int i = 0; i < count; ++i) {
    pieces = pieces && products[i].k * bytes_of(products[i].format) % 16 == 0;
    tensor_cores = tensor_cores && products[i].format == Format::bf16 && products[i].k % 8 == 0 && products[i].n % 8 == 0;
  }
  constexpr int32_t kFewRows = 4;
  RegimeLimits limits;
  limits.tensor_cores = tensor_cores;
  if (tensor_cores) {
    limits.gemv_rows = most_rows <= kFewRows ? kFewRows : 0;
    limits.swapped_rows = row_block(Regime::swapped);
  } else {
    limits.gemv_rows = pieces ? row_block(Regime::gemv) : 0;
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

bool is_joined(const RegimeLimits& limits, int64_t most_rows) {
  return limits.variants.large == LargeVariant::joined && may_occur(Regime::swapped, limits, most_rows) &&
         may_occur(Regime::large, limits, most_rows);
}

int launches(const RegimeLimits& limits, int64_t most_rows) {
  int n = is_joined(limits, most_rows) ? -1 : 0;
  for (int r = 0; r < kRegimes; ++r) n += may_occur(static_cast<Regime>(r), limits, most_rows);
  return n;
}

}  // namespace stormcell::gpu
