// Layout of a tile's numbers in shared memory, wgmma's descriptor of it, and the owner of each sum: everything about
// Hopper's tensor cores that can be checked without one. Sources: PTX ISA 8.x, "Asynchronous Warpgroup Level Matrix
// Instructions" (matrix descriptor, swizzling modes, register fragments of wgmma.mma_async.m64nNk16) and the CUDA
// driver's CU_TENSOR_MAP_SWIZZLE_128B.
#pragma once
#include "gpu/base/number.h"

namespace stormcell::gpu {

/// Operands are K-major: a tile is rows of 64 bf16 numbers, 128 bytes each, in groups of eight rows (1,024 bytes, so
/// aligned). The sixteen-byte pieces of a row are swizzled: piece c of row r is at the place of piece c ^ (r % 8).
inline constexpr int32_t kTileDepth = 64, kRowBytes = 128, kGroupRows = 8, kGroupBytes = kGroupRows * kRowBytes;
STORMCELL_BOTH constexpr int32_t swizzled_offset(int32_t row, int32_t piece) {
  return row * kRowBytes + ((piece ^ row % kGroupRows) << 4);
}
/// The same in the form of the hardware: bits 4-6 of an address are XORed with bits 7-9.
STORMCELL_BOTH constexpr uint32_t swizzled_address(uint32_t address) { return address ^ ((address >> 3) & 0x70u); }

/// The matrix descriptor of a tile at a shared address: 128-byte swizzle, K-major. Bits 0-13: address / 16; 16-29:
/// leading dimension offset / 16 (not used in this mode; 1 by convention); 32-45: stride between groups of eight rows /
/// 16; 49-51: base offset, 0 since groups are aligned to 1,024 bytes; 62-63: 1 for the 128-byte swizzle.
STORMCELL_BOTH constexpr uint64_t matrix_descriptor(uint32_t shared_address) {
  return static_cast<uint64_t>((shared_address & 0x3ffff) >> 4) | uint64_t{1} << 16 |
         static_cast<uint64_t>(kGroupBytes >> 4) << 32 | uint64_t{1} << 62;
}
/// One wgmma takes a depth of 16 numbers, 32 bytes: the next step's descriptor is this much higher.
inline constexpr int32_t kStepDepth = 16, kSteps = kTileDepth / kStepDepth;
inline constexpr uint64_t kDescriptorStep = kStepDepth * 2 >> 4;

/// Sums of m64nN: thread t (of the warpgroup's 128) holds, as number i of its N / 2, this row and column.
STORMCELL_BOTH constexpr int32_t sum_row(int32_t t, int32_t i) { return t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8; }
STORMCELL_BOTH constexpr int32_t sum_column(int32_t t, int32_t i) { return i / 4 * 8 + t % 4 * 2 + i % 2; }

/// The way round the ring of stages between producers and consumers: the stage of a use and its barriers' parity, which
/// flips each time round. A consumer waits for `full` with this parity, a producer for `empty` with the other, which
/// lets the first round through.
template <int kStages>
struct RingPlace {
  int32_t stage = 0;
  uint32_t parity = 0;
  STORMCELL_BOTH constexpr void next() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};
/// The producer signals `full` only kLag uses later, when its copies of rows have landed; consumers signal `empty` one
/// use later. They wait only for each other, so they cannot block each other as long as this holds.
STORMCELL_BOTH constexpr bool is_live(int stages, int lag) { return lag <= stages - 2; }

}  // namespace stormcell::gpu
