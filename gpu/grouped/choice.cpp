// Which kernel for how many rows. The limits follow from counting, not from measuring (docs/benchmarks/todo.md says what to measure):
// - gemv does 8 multiply-adds a row for each sixteen bytes of weights beside 8 conversions; at 19 bytes a clock and multiprocessor, an
//   H200's share of its memory, five rows keep the floating-point units about 60 % busy and eight all of it. Without tensor cores nothing
//   else reads weights once for a few rows, so there it goes to eight.
// - swapped and large meet where an expert's rows fill more than half of a 128-row tile.
#include "gpu/grouped/grouped.h"

namespace stormcell::gpu {

RegimeLimits choose_limits(bool has_wgmma, const ProductShape* products, int count) {
  bool pieces = true, tensor_cores = has_wgmma;
  for (int i = 0; i < count; ++i) {
    pieces = pieces && products[i].k * bytes_of(products[i].format) % 16 == 0;
    tensor_cores = tensor_cores && products[i].format == Format::bf16 && products[i].k % 8 == 0 && products[i].n % 8 == 0;
  }
  RegimeLimits limits;
  limits.tensor_cores = tensor_cores;
  limits.gemv_rows = !pieces ? 0 : tensor_cores ? 4 : 8;
  limits.swapped_rows = tensor_cores ? 64 : 0;
  return limits;
}

bool may_occur(Regime regime, const RegimeLimits& limits, int64_t most_slots) {
  switch (regime) {
    case Regime::gemv:
      return limits.gemv_rows > 0 && most_slots > 0;
    case Regime::swapped:
      return limits.tensor_cores && limits.swapped_rows > limits.gemv_rows && most_slots > limits.gemv_rows;
    case Regime::large:
      return limits.tensor_cores && most_slots > most(limits.gemv_rows, limits.swapped_rows);
    default:
      return !limits.tensor_cores && most_slots > limits.gemv_rows;
  }
}

}  // namespace stormcell::gpu
