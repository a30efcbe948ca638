// Every result is stored as those are that the caches cannot hold.
#pragma once
#include "core/cpu/kernels/non_temporal.h"

namespace stormcell::testing {

class NonTemporalResults {
 public:
  NonTemporalResults() { cpu::set_non_temporal_for_test(0); }
  ~NonTemporalResults() { cpu::set_non_temporal_for_test({}); }
  NonTemporalResults(const NonTemporalResults&) = delete;
  NonTemporalResults& operator=(const NonTemporalResults&) = delete;
};

}  // namespace stormcell::testing
