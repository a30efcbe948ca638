// The kernels for AVX-512 with bf16 dot products.
#if defined(__x86_64__)
#define STORMCELL_ISA isa_avx512_bf16
#define STORMCELL_SIMD_BITS 512
#include "core/cpu/kernels/all_kernels.simd.h"

namespace stormcell::cpu {
KernelTable avx512_bf16_kernels() { return isa_avx512_bf16::all_kernels(Isa::avx512_bf16); }
}  // namespace stormcell::cpu
#endif
