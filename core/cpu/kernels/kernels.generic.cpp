// The kernels for any processor: 16-byte vectors, whatever the compiler makes of them.
#define STORMCELL_ISA isa_generic
#define STORMCELL_SIMD_BITS 128
#include "core/cpu/kernels/all_kernels.simd.h"

namespace stormcell::cpu {
KernelTable generic_kernels() { return isa_generic::all_kernels(Isa::generic); }
}  // namespace stormcell::cpu
