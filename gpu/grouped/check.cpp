#include <cinttypes>

#include "gpu/base/check.h"
#include "gpu/grouped/grouped.h"

namespace stormcell::gpu {
namespace {
constexpr const char* kCall = "grouped product";
constexpr int32_t kMostSlots =
    INT32_MAX - (row_block(Regime::large) - 1);  // the tile map rounds rows up to whole tiles

Status check_limits(const RegimeLimits& limits) {
  if (limits.gemv_rows < 0 || limits.gemv_rows > row_block(Regime::gemv) || limits.swapped_rows < 0 ||
      limits.swapped_rows > row_block(Regime::swapped))
    return Status::failure(StatusCode::bad_input, "%s: regimes of up to %d and %d rows, allowed are 0 to %d and %d",
                           kCall, limits.gemv_rows, limits.swapped_rows, row_block(Regime::gemv),
                           row_block(Regime::swapped));
  return {};
}
}  // namespace

Status check_grouped(const GroupedCall& call, const TileMap& map) {
  const RegimeLimits& limits = map.limits;
  if (call.experts < 1 || call.experts > kMostExperts)
    return Status::failure(StatusCode::bad_input, "%s: %d experts, allowed are 1 to %d", kCall, call.experts,
                           kMostExperts);
  if (call.n < 1 || call.k < 1 || call.n > (1 << 24) || call.k > (1 << 24))
    return Status::failure(StatusCode::bad_input, "%s: n %d and k %d, allowed are 1 to %d", kCall, call.n, call.k,
                           1 << 24);
  if (call.most_slots < 0 || call.most_slots > kMostSlots)
    return Status::failure(StatusCode::bad_input, "%s: %" PRId64 " slots, allowed are 0 to %d", kCall, call.most_slots,
                           kMostSlots);
  if (call.most_rows < 0 || call.most_rows > call.most_slots || (call.most_rows == 0) != (call.most_slots == 0))
    return Status::failure(StatusCode::bad_input, "%s: up to %" PRId64 " rows an expert of up to %" PRId64 " slots",
                           kCall, call.most_rows, call.most_slots);
  if (call.scatter && call.fan_out != 1)
    return Status::failure(StatusCode::bad_input,
                           "%s: a scattering store sums nothing, so it needs a fan-out of 1, not %d", kCall,
                           call.fan_out);
  STORMCELL_TRY(check_limits(limits));
  const bool pieces = call.k * bytes_of(call.format) % 16 == 0;
  if (limits.gemv_rows > 0 && !pieces)
    return Status::failure(StatusCode::bad_input, "%s: rows of %d %s numbers are no multiple of 16 bytes", kCall,
                           call.k, to_text(call.format));
  if (limits.tensor_cores && (call.format != Format::bf16 || !pieces || call.n % 8 != 0))
    return Status::failure(StatusCode::bad_input, "%s: tensor cores need bf16 and multiples of 8, not %s, n %d, k %d",
                           kCall, to_text(call.format), call.n, call.k);
  STORMCELL_TRY(check_pointer(kCall, "offsets", call.offsets, 4));
  STORMCELL_TRY(check_pointer(kCall, "the tile map", map.at, 4));
  if (call.most_slots == 0) return {};
  const auto alignment = static_cast<size_t>(limits.gemv_rows > 0 || limits.tensor_cores ? 16 : bytes_of(call.format));
  STORMCELL_TRY(check_pointer(kCall, "x", call.x, alignment));
  STORMCELL_TRY(check_pointer(kCall, "w", call.w, alignment));
  STORMCELL_TRY(check_pointer(kCall, "y", call.y, alignment));
  if (call.bias) STORMCELL_TRY(check_pointer(kCall, "bias", call.bias, limits.tensor_cores ? 8 : 4));
  if (call.gather) STORMCELL_TRY(check_pointer(kCall, "gather", call.gather, 4));
  if (call.scatter) STORMCELL_TRY(check_pointer(kCall, "scatter", call.scatter, 4));
  if (call.weight) STORMCELL_TRY(check_pointer(kCall, "weight", call.weight, 4));
  return {};
}

Status check_most_rows(int32_t rows, int64_t most_rows) {
  if (rows <= most_rows) return {};
  return Status::failure(StatusCode::bad_input,
                         "%s: an expert has %d rows and the call was for at most %" PRId64
                         ": those of its regime may be unwritten",
                         kCall, rows, most_rows);
}

}  // namespace stormcell::gpu
