// The copy engine's description of a product's weights.
#pragma once
#include <cuda.h>

#include "gpu/base/status.h"

namespace stormcell::gpu {

/// w [experts, rows, k] in bf16, fetched in boxes of 64 rows x 64 numbers with the 128-byte swizzle; numbers outside
/// become zeros.
Status make_tensor_map(CUtensorMap& map, const void* w, int32_t experts, int64_t rows, int32_t k);

}  // namespace stormcell::gpu
