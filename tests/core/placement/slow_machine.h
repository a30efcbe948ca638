// A machine whose costs can be worked out by hand, for tests of steps.
#pragma once
#include "core/placement/step_work.h"

namespace stormcell::testing {

/// Reading an expert takes 0.5 s, a row of it 1 ms.
inline const CostModel kSlowMachine{.memory_bytes_per_s = 100,
                                    .flops_per_s = 1000,
                                    .fabric_bytes_per_s = 10,
                                    .network_bytes_per_s = 2,
                                    .product_t0_s = 0,
                                    .branch_bytes = 50,
                                    .flops_per_row = 1,
                                    .dispatch_row_bytes = 1,
                                    .combine_row_bytes = 2};

}  // namespace stormcell::testing
