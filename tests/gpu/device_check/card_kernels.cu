#include "gpu/base/number.h"
#include "tests/gpu/device_check/card.h"

namespace stormcell::device_check {
namespace {

__device__ uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

__global__ void fill(gpu::Bf16* to, int64_t n, float scale, uint32_t seed) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < n; i += int64_t{gridDim.x} * blockDim.x) {
    const uint32_t bits = mixed(static_cast<uint32_t>(i) ^ mixed(static_cast<uint32_t>(i >> 32) + seed));
    // The sum of four bytes: deviation 147.8.
    const int sum = static_cast<int>((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24)) - 510;
    to[i] = gpu::to_bf16(static_cast<float>(sum) * (scale / 147.8f));
  }
}

__global__ void fill_with_whole(gpu::Bf16* to, int64_t n, uint32_t seed) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < n; i += int64_t{gridDim.x} * blockDim.x)
    to[i] = gpu::to_bf16(static_cast<float>(
        static_cast<int>(mixed(static_cast<uint32_t>(i) ^ mixed(static_cast<uint32_t>(i >> 32) + seed)) % 7) - 3));
}

/// take(i, piece) for all pieces of sixteen bytes, eight loads of a thread on their way.
template <class Take>
__device__ void take_pieces(const uint4* from, int64_t n, const Take& take) {
  constexpr int kAtOnce = 8;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  for (; i + (kAtOnce - 1) * step < n; i += kAtOnce * step) {
    uint4 piece[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) piece[j] = __ldcs(from + i + j * step);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) take(i + j * step, piece[j]);
  }
  for (; i < n; i += step) take(i, from[i]);
}

__global__ void read(const uint4* from, int64_t n, float* sink) {
  uint32_t sum = 0;
  take_pieces(from, n, [&](int64_t, const uint4& piece) { sum ^= piece.x ^ piece.y ^ piece.z ^ piece.w; });
  if (sum == 0x12345678u) *sink = 1;
}

__global__ void copied(uint4* to, const uint4* from, int64_t n) {
  take_pieces(from, n, [&](int64_t i, const uint4& piece) { __stcs(to + i, piece); });
}

__global__ void different(const uint32_t* a, const uint32_t* b, int64_t n, unsigned long long* count) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < n; i += int64_t{gridDim.x} * blockDim.x)
    if (a[i] != b[i]) atomicAdd(count, 1ull);
}

}  // namespace

void fill_bf16(void* to, int64_t n, float scale, uint32_t seed, cudaStream_t stream) {
  fill<<<2048, 256, 0, stream>>>(static_cast<gpu::Bf16*>(to), n, scale, seed);
  must(cudaGetLastError(), "fill");
}
void fill_whole(void* to, int64_t n, uint32_t seed, cudaStream_t stream) {
  fill_with_whole<<<2048, 256, 0, stream>>>(static_cast<gpu::Bf16*>(to), n, seed);
  must(cudaGetLastError(), "fill");
}
void copy_all(void* to, const void* from, int64_t bytes, int multiprocessors, cudaStream_t stream) {
  copied<<<static_cast<unsigned>(multiprocessors) * 8, 256, 0, stream>>>(static_cast<uint4*>(to),
                                                                         static_cast<const uint4*>(from), bytes / 16);
  must(cudaGetLastError(), "copy");
}
void read_all(const void* from, int64_t bytes, int multiprocessors, float* sink, cudaStream_t stream) {
  read<<<static_cast<unsigned>(multiprocessors) * 8, 256, 0, stream>>>(static_cast<const uint4*>(from), bytes / 16,
                                                                       sink);
  must(cudaGetLastError(), "read");
}
void count_different(const void* a, const void* b, int64_t bytes, unsigned long long* count, cudaStream_t stream) {
  different<<<512, 256, 0, stream>>>(static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b), bytes / 4,
                                     count);
  must(cudaGetLastError(), "count different");
}

}  // namespace stormcell::device_check
