// Machines whose costs can be worked out by hand, for tests of steps.
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

/// The same, five times as fast at products. A product takes 0.1 s to begin, a dispatch or combine 50 ms.
inline const CostModel kStartingMachine{.memory_bytes_per_s = 100,
                                        .flops_per_s = 5000,
                                        .fabric_bytes_per_s = 10,
                                        .network_bytes_per_s = 2,
                                        .product_t0_s = 0.1,
                                        .branch_bytes = 50,
                                        .flops_per_row = 1,
                                        .dispatch_row_bytes = 1,
                                        .combine_row_bytes = 2,
                                        .dispatch = {.t0_s = 0.05},
                                        .combine = {.t0_s = 0.05}};

/// The replica that a token goes to, and the rank that it lives on then.
struct ReplicaWays {
  const char* name;  ///< for rows of tests
  ReplicaRule replicas;
  Residence residence;
};
inline constexpr ReplicaWays kReplicaWays[] = {{"", ReplicaRule::even, Residence::home},
                                               {", nearest", ReplicaRule::nearest, Residence::home},
                                               {", follow", ReplicaRule::even, Residence::follow}};

}  // namespace stormcell::testing
