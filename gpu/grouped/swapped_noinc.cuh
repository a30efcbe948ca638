// The swapped kernel as a variant: a thread of the producer neither waits for its copies nor fences; the copies arrive at the stage's
// barrier when they have landed (cp.async.mbarrier.arrive.noinc), and each consumer fences what it is about to multiply. Still 128 arrivals
// a stage. The PTX manual asks whoever wrote to fence; here the reader does, behind a barrier that orders both. A card must say whether
// that holds.
#pragma once
#include "gpu/grouped/swapped.cuh"

namespace stormcell::gpu {

template <int kPanels>
__global__ void __launch_bounds__(NoincShape<kPanels>::kThreads, 1)
    swapped_noinc_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  swapped_product<NoincShape<kPanels>>(map, a);
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
