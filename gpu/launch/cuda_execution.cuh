// The execution of gpu/base/execution.h on a card.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/base/number.h"

namespace stormcell::gpu {

extern __shared__ __align__(1024) unsigned char shared_bytes[];

struct CudaExecution {
  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int block() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(gridDim.x); }
  template <class Shared>
  __device__ Shared& shared() {
    return *reinterpret_cast<Shared*>(shared_bytes);
  }
  __device__ void sync() { __syncthreads(); }
  __device__ void sync_warp() { __syncwarp(); }
  template <class T>
  __device__ T shuffle_xor(T value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
  }
  __device__ uint32_t ballot(bool mine) { return __ballot_sync(0xffffffffu, mine); }
  __device__ uint32_t match(int32_t value) { return __match_any_sync(0xffffffffu, value); }
  __device__ void add(int32_t* to, int32_t n) { atomicAdd(to, n); }
  template <class T>
  __device__ T load_once(const T* from) {
    return __ldcs(from);
  }
  __device__ Sixteen load_once(const Sixteen* from) {
    Sixteen value;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.word[0]), "=r"(value.word[1]), "=r"(value.word[2]), "=r"(value.word[3])
        : "l"(from));
    return value;
  }
  template <class T>
  __device__ T load(const T* from) {
    return *from;
  }
  template <class T>
  __device__ void store(T* to, const T& value) {
    *to = value;
  }
  __device__ static void set_condition(uint64_t condition, bool value) { cudaGraphSetConditional(condition, value); }
  __device__ static int count_bits(uint32_t bits) { return __popc(bits); }
};

}  // namespace stormcell::gpu
