// Rows of an embedding table.
#pragma once
#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/thread_team.h"

namespace stormcell::cpu {

/// y[r] = table[ids[r]] * scale, to f32. table [any, d] of f32, f16 or bf16, or in blocks. The ids were checked by the
/// caller.
void embed_rows(ThreadTeam& team, const void* table, DType dtype, const int32_t* ids, int64_t rows, int64_t d,
                float scale, float* y);

}  // namespace stormcell::cpu
