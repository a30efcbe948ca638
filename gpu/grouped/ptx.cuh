// wgmma, TMA and mbarrier by their names in PTX. Only those that the kernels here use; only for sm_90a.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "gpu/launch/stall.h"

namespace stormcell::gpu::ptx {

#if defined(STORMCELL_STALL)
/// The record for waits of this file's kernels that give up, set before the first launch (tensor_launch.cuh).
static __constant__ StallRecord* record_of_stall = nullptr;
#endif

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// --- mbarrier
// -----------------------------------------------------------------------------------------------------------

__device__ inline void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// Makes initialised barriers known to the copy engine.
__device__ inline void barrier_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives and says how many bytes the copy engine will bring before the phase is complete.
__device__ inline void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
#if defined(STORMCELL_STALL)
/// Tries for a while; true when the phase of this parity is complete.
__device__ inline bool try_wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done;
}
/// The card's clock in units of 2^20 ns.
__device__ inline uint32_t milliseconds() {
  uint64_t now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return static_cast<uint32_t>(now >> 20);
}
/// The first that gives up says where and ends the kernel; others wait for that. None goes on, so nothing need be kept
/// for it in registers.
__device__ inline void give_up(uint32_t parity, const Awaited& awaited) {
  if (atomicCAS(&record_of_stall->taken, 0, 1) == 0) {
    record_of_stall->block = static_cast<int32_t>(blockIdx.x),
    record_of_stall->warp = static_cast<int32_t>(threadIdx.x / 32);
    record_of_stall->awaited = awaited, record_of_stall->parity = parity;
    __threadfence_system();
    __trap();
  }
  for (;;) __nanosleep(1000000);
}
/// Waits until the phase of this parity is complete, but at most two seconds. It calls no function: otherwise ptxas
/// would serialise the products, and this would be another kernel.
__device__ inline void wait(uint32_t barrier, uint32_t parity, const Awaited& awaited) {
  constexpr uint32_t kMilliseconds = 2000;
  if (try_wait(barrier, parity)) return;
  const uint32_t begin = milliseconds();
  while (!try_wait(barrier, parity))
    if (milliseconds() - begin >= kMilliseconds) give_up(parity, awaited);
}
#else
/// Waits until the phase of this parity is complete.
__device__ inline void wait(uint32_t barrier, uint32_t parity, const Awaited&) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
#endif

// --- copies
// ---------------------------------------------------------------------------------------------------------------

/// A box of a three-dimensional tensor to shared memory; `barrier` learns of its bytes.
__device__ inline void copy_box(uint32_t to, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2,
                                uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(barrier)
      : "memory");
}
__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/// Writes sixteen bytes to shared memory: `bytes` (0 or 16) of them are read, the rest is zero.
__device__ inline void copy_piece(uint32_t to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit_pieces() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most kLeft of this thread's committed groups are under way.
template <int kLeft>
__device__ inline void wait_pieces() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
/// Makes this thread's writes to shared memory visible to the tensor cores.
__device__ inline void fence_for_tensor_cores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- warpgroups
// -----------------------------------------------------------------------------------------------------------

template <int kRegisters>
__device__ inline void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most kLeft committed groups of products are under way.
template <int kLeft>
__device__ inline void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// sum (64 x kN, 64 * kN / 128 a thread) = a . b^T + (add ? sum : 0), both operands 16 deep, by descriptors.
template <int kN>
__device__ void multiply(float (&sum)[kN / 2], uint64_t a, uint64_t b, bool add);

template <>
__device__ inline void multiply<8>(float (&sum)[4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3}, "
      "%4, %5, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "l"(a), "l"(b), "r"(static_cast<int32_t>(add)));
}
template <>
__device__ inline void multiply<16>(float (&sum)[8], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, "
      "%8, %9, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
      : "l"(a), "l"(b), "r"(static_cast<int32_t>(add)));
}
template <>
__device__ inline void multiply<32>(float (&sum)[16], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "%16, %17, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15])
      : "l"(a), "l"(b), "r"(static_cast<int32_t>(add)));
}
template <>
__device__ inline void multiply<64>(float (&sum)[32], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7]),
        "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]), "+f"(sum[14]),
        "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]),
        "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]),
        "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31])
      : "l"(a), "l"(b), "r"(static_cast<int32_t>(add)));
}
/// The same 256 wide; sums 64 to 127 of a thread, those of the other half, apart.
__device__ inline void multiply_256(float (&sum)[2][64], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0][0]), "+f"(sum[0][1]), "+f"(sum[0][2]), "+f"(sum[0][3]), "+f"(sum[0][4]), "+f"(sum[0][5]),
        "+f"(sum[0][6]), "+f"(sum[0][7]), "+f"(sum[0][8]), "+f"(sum[0][9]), "+f"(sum[0][10]), "+f"(sum[0][11]),
        "+f"(sum[0][12]), "+f"(sum[0][13]), "+f"(sum[0][14]), "+f"(sum[0][15]), "+f"(sum[0][16]), "+f"(sum[0][17]),
        "+f"(sum[0][18]), "+f"(sum[0][19]), "+f"(sum[0][20]), "+f"(sum[0][21]), "+f"(sum[0][22]), "+f"(sum[0][23]),
        "+f"(sum[0][24]), "+f"(sum[0][25]), "+f"(sum[0][26]), "+f"(sum[0][27]), "+f"(sum[0][28]), "+f"(sum[0][29]),
        "+f"(sum[0][30]), "+f"(sum[0][31]), "+f"(sum[0][32]), "+f"(sum[0][33]), "+f"(sum[0][34]), "+f"(sum[0][35]),
        "+f"(sum[0][36]), "+f"(sum[0][37]), "+f"(sum[0][38]), "+f"(sum[0][39]), "+f"(sum[0][40]), "+f"(sum[0][41]),
        "+f"(sum[0][42]), "+f"(sum[0][43]), "+f"(sum[0][44]), "+f"(sum[0][45]), "+f"(sum[0][46]), "+f"(sum[0][47]),
        "+f"(sum[0][48]), "+f"(sum[0][49]), "+f"(sum[0][50]), "+f"(sum[0][51]), "+f"(sum[0][52]), "+f"(sum[0][53]),
        "+f"(sum[0][54]), "+f"(sum[0][55]), "+f"(sum[0][56]), "+f"(sum[0][57]), "+f"(sum[0][58]), "+f"(sum[0][59]),
        "+f"(sum[0][60]), "+f"(sum[0][61]), "+f"(sum[0][62]), "+f"(sum[0][63]), "+f"(sum[1][0]), "+f"(sum[1][1]),
        "+f"(sum[1][2]), "+f"(sum[1][3]), "+f"(sum[1][4]), "+f"(sum[1][5]), "+f"(sum[1][6]), "+f"(sum[1][7]),
        "+f"(sum[1][8]), "+f"(sum[1][9]), "+f"(sum[1][10]), "+f"(sum[1][11]), "+f"(sum[1][12]), "+f"(sum[1][13]),
        "+f"(sum[1][14]), "+f"(sum[1][15]), "+f"(sum[1][16]), "+f"(sum[1][17]), "+f"(sum[1][18]), "+f"(sum[1][19]),
        "+f"(sum[1][20]), "+f"(sum[1][21]), "+f"(sum[1][22]), "+f"(sum[1][23]), "+f"(sum[1][24]), "+f"(sum[1][25]),
        "+f"(sum[1][26]), "+f"(sum[1][27]), "+f"(sum[1][28]), "+f"(sum[1][29]), "+f"(sum[1][30]), "+f"(sum[1][31]),
        "+f"(sum[1][32]), "+f"(sum[1][33]), "+f"(sum[1][34]), "+f"(sum[1][35]), "+f"(sum[1][36]), "+f"(sum[1][37]),
        "+f"(sum[1][38]), "+f"(sum[1][39]), "+f"(sum[1][40]), "+f"(sum[1][41]), "+f"(sum[1][42]), "+f"(sum[1][43]),
        "+f"(sum[1][44]), "+f"(sum[1][45]), "+f"(sum[1][46]), "+f"(sum[1][47]), "+f"(sum[1][48]), "+f"(sum[1][49]),
        "+f"(sum[1][50]), "+f"(sum[1][51]), "+f"(sum[1][52]), "+f"(sum[1][53]), "+f"(sum[1][54]), "+f"(sum[1][55]),
        "+f"(sum[1][56]), "+f"(sum[1][57]), "+f"(sum[1][58]), "+f"(sum[1][59]), "+f"(sum[1][60]), "+f"(sum[1][61]),
        "+f"(sum[1][62]), "+f"(sum[1][63])
      : "l"(a), "l"(b), "r"(static_cast<int32_t>(add)));
}

#endif

}  // namespace stormcell::gpu::ptx
