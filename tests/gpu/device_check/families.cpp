#include "tests/gpu/device_check/families.h"

namespace stormcell::device_check {

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"limits", check_limits, 40, false},
      {"routing", check_routing, 60, true},
      {"dispatch", check_dispatch, 30, true},
      {"plain", check_plain, 30, true},
      {"gemv", check_gemv, 30, true},
      {"swapped", check_swapped, 50, true},
      {"large", check_large, 50, true},
      {"mixed", check_mixed, 40, true},
      {"repeats", check_repeats, 70, false},
      {"layer", check_layer_calls, 60, true},
      {"faults", check_faults, 20, false},
      {"bench-routing", bench_routing, 30, false},
      {"bench-few-rows", bench_few_rows, 20, false},
      {"bench-rows", bench_rows, 40, false},
      {"bench-switch", bench_switch, 80, false},
      {"bench-gated", bench_gated, 90, false},
  };
  return all;
}

}  // namespace stormcell::device_check
