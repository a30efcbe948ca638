// The inner product of a row of floats and a row of weights as they are stored: the plain product of each number
// format.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stormcell::cpu {

/// The sum of x[i] w[i] over n floats.
float dot_f32(const float* x, const std::byte* row, int64_t n);

/// Elements of a block of q8_0, and its bytes: a scale in f16 (little-endian), then a signed byte for each element.
/// Source: block_q8_0 in ggml-common.h of ggml.
inline constexpr int64_t kQ8Elements = 32, kQ8Bytes = 34;
/// The 32 elements of one block: scale times byte, which f32 holds exactly. A scale that is not finite gives what f32
/// makes of it.
void decode_q8_0(const std::byte* block, float* to);
/// The sum of x[i] w[i] over n elements of a row in q8_0; n is a multiple of 32. x is not rounded.
float dot_q8_0(const float* x, const std::byte* row, int64_t n);

}  // namespace stormcell::cpu
