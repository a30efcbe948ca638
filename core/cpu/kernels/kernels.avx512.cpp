// The kernels for AVX-512 (F, BW, VL, DQ).
#if defined(__x86_64__)
#define STORMCELL_ISA isa_avx512
#define STORMCELL_SIMD_BITS 512
#include "core/cpu/kernels/all_kernels.simd.h"

namespace stormcell::cpu {
KernelTable avx512_kernels() { return isa_avx512::all_kernels(Isa::avx512); }
}  // namespace stormcell::cpu
#endif
