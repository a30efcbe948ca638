// The paired kernel as a variant without its fences: a stage is given back by an arrival of cluster scope that orders no memory. What must
// not overtake it are the tensor cores' reads, which a wait for the products has completed, and nothing that a thread wrote crosses blocks;
// the copy engine's bytes are ordered by its own completion. Published kernels do likewise, with the default scope. A card must say whether
// it holds, and what the fences cost.
#pragma once
#include "gpu/grouped/paired.cuh"

namespace stormcell::gpu {

template <int kPanels>
__global__ void __launch_bounds__(PairedRelaxedShape<kPanels>::kThreads, 1)
    paired_relaxed_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  paired_product<PairedRelaxedShape<kPanels>>(map, a);
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
