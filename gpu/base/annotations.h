// Macros with which nvcc compiles a source for a card and a plain C++ compiler the same source for the tests.
#pragma once

#if defined(__CUDACC__)
#define STORMCELL_DEVICE __device__
#define STORMCELL_DEVICE_INLINED __device__ __forceinline__
#define STORMCELL_BOTH __host__ __device__
#define STORMCELL_UNROLL _Pragma("unroll")
#define STORMCELL_PRAGMA(text) _Pragma(#text)
#define STORMCELL_UNROLL_BY(n) STORMCELL_PRAGMA(unroll n)
#else
#define STORMCELL_DEVICE
#define STORMCELL_DEVICE_INLINED
#define STORMCELL_BOTH
#define STORMCELL_UNROLL
#define STORMCELL_UNROLL_BY(n)
#endif

/// CUDA's stream type by its own name, so that headers need none of CUDA's.
struct CUstream_st;

namespace stormcell::gpu {
using Stream = CUstream_st*;
}  // namespace stormcell::gpu
