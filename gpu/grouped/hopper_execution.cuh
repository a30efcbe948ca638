// The execution of tensor.h on a card.
#pragma once
#include "gpu/grouped/ptx.cuh"
#include "gpu/launch/cuda_execution.cuh"

namespace stormcell::gpu {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
struct HopperExecution : CudaExecution {
  using Map = CUtensorMap;

  __device__ static uint32_t shared_begin() { return ptx::shared_address(shared_bytes); }
  template <class T>
  __device__ static T& shared_at(uint32_t address) {
    return *reinterpret_cast<T*>(shared_bytes + (address - shared_begin()));
  }
  __device__ static void init_barrier(uint32_t barrier, uint32_t arrivals) { ptx::barrier_init(barrier, arrivals); }
  __device__ static void barriers_are_there() { ptx::barrier_init_done(); }
  __device__ static void arrive(uint32_t barrier) { ptx::arrive(barrier); }
  __device__ static void arrive_expecting(uint32_t barrier, uint32_t bytes) { ptx::arrive_expecting(barrier, bytes); }
  __device__ static void wait(uint32_t barrier, uint32_t parity, const Awaited& awaited) {
    ptx::wait(barrier, parity, awaited);
  }
  __device__ static void prefetch_map(const Map* map) { ptx::prefetch_map(map); }
  __device__ static void copy_box(uint32_t to, const Map* map, int32_t c0, int32_t c1, int32_t c2, uint32_t barrier) {
    ptx::copy_box(to, map, c0, c1, c2, barrier);
  }
  __device__ static void copy_piece(uint32_t to, const void* from, uint32_t bytes) { ptx::copy_piece(to, from, bytes); }
  __device__ static void commit_pieces() { ptx::commit_pieces(); }
  template <int kLeft>
  __device__ static void wait_pieces() {
    ptx::wait_pieces<kLeft>();
  }
  __device__ static void fence_for_tensor_cores() { ptx::fence_for_tensor_cores(); }
  __device__ static void begin_products() { ptx::begin_products(); }
  template <int kHeld>
  __device__ static void multiply(float (&sum)[kHeld], uint64_t a, uint64_t b, bool add) {
    ptx::multiply<2 * kHeld>(sum, a, b, add);
  }
  __device__ static void multiply(float (&sum)[2][64], uint64_t a, uint64_t b, bool add) {
    ptx::multiply_256(sum, a, b, add);
  }
  __device__ static void commit_products() { ptx::commit_products(); }
  template <int kLeft>
  __device__ static void wait_products() {
    ptx::wait_products<kLeft>();
  }
  template <int kRegisters>
  __device__ static void fewer_registers() {
    ptx::fewer_registers<kRegisters>();
  }
  template <int kRegisters>
  __device__ static void more_registers() {
    ptx::more_registers<kRegisters>();
  }
};
#endif

}  // namespace stormcell::gpu
