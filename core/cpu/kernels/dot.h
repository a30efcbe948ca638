// The inner product of two rows of floats: the plain product, whatever the weights are expanded from.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stormcell::cpu {

/// The sum of x[i] w[i] over n floats.
float dot_f32(const float* x, const std::byte* row, int64_t n);

}  // namespace stormcell::cpu
