// Dispatch and combine alone: rows of cells to slots, and back with a cell's contributions summed in a fixed order.
#pragma once
#include "core/cell/decision.h"
#include "gpu/base/annotations.h"
#include "gpu/base/number.h"
#include "gpu/base/status.h"

namespace stormcell::gpu {

enum class Format : uint8_t { f32, bf16 };
inline constexpr int64_t bytes_of(Format format) { return format == Format::f32 ? 4 : 2; }
inline constexpr const char* to_text(Format format) { return format == Format::f32 ? "f32" : "bf16"; }

/// Rows of `width` numbers; device pointers, aligned to 16 bytes, as rows must be.
struct DispatchCall {
  DecisionView decision;
  int64_t cells = 0;
  int64_t width = 0;
  Format format = Format::f32;
  const void* from = nullptr;  ///< [cells, width]
  void* to = nullptr;          ///< [slots, width]
};
/// to[slot] = from[cell of the slot]
Status dispatch(const DispatchCall& call, Stream stream);
Status check_dispatch(const DispatchCall& call);

struct CombineCall {
  DecisionView decision;
  int64_t cells = 0;
  int64_t width = 0;
  Format format = Format::f32;
  bool weighted = true;
  const void* from = nullptr;  ///< [slots, width]
  /// [cells, width]: the row that a dropped choice contributes with its weight; null: nothing
  const void* dropped = nullptr;
  void* to = nullptr;  ///< [cells, width]
  /// write only cells without any slot; a product with a scattering store has written the others
  bool unrouted_only = false;
};
/// to[cell] = sum over its choices, in their order and in float, of weight * from[slot]; a cell without slots gives 0.
Status combine(const CombineCall& call, Stream stream);
Status check_combine(const CombineCall& call);

}  // namespace stormcell::gpu
