// The kernels for AVX2 and FMA.
#if defined(__x86_64__)
#define STORMCELL_ISA isa_avx2
#define STORMCELL_SIMD_BITS 256
#include "core/cpu/kernels/all_kernels.simd.h"

namespace stormcell::cpu {
KernelTable avx2_kernels() { return isa_avx2::all_kernels(Isa::avx2); }
}  // namespace stormcell::cpu
#endif
