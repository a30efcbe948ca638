#include "core/cpu/kernels/non_temporal.h"

#include "core/cpu/machine.h"

namespace stormcell::cpu {
namespace {

std::optional<int64_t> wanted_by_test;

}  // namespace

bool is_non_temporal(int64_t floats) {
  static const int64_t least = [] {
    const int64_t l3 = describe_processor().l3_bytes;
    return (l3 > 0 ? l3 : int64_t{32} << 20) / 4 / static_cast<int64_t>(sizeof(float));
  }();
  return floats >= wanted_by_test.value_or(least);
}

void set_non_temporal_for_test(std::optional<int64_t> floats) { wanted_by_test = floats; }

}  // namespace stormcell::cpu
