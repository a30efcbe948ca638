#include <cinttypes>

#include "gpu/base/check.h"
#include "gpu/dispatch/dispatch.h"

namespace stormcell::gpu {
namespace {
Status check_rows(const char* call, const DecisionView& d, int64_t cells, int64_t width, Format format) {
  if (cells < 0 || d.fan_out < 1 || cells > INT32_MAX || cells * d.fan_out > INT32_MAX)
    return Status::failure(StatusCode::bad_input, "%s: %" PRId64 " cells of %d choices are beyond 2^31 slots", call,
                           cells, d.fan_out);
  if (width < 1 || width > INT32_MAX)
    return Status::failure(StatusCode::bad_input, "%s: a row of %" PRId64 " numbers, allowed are 1 to %d", call, width,
                           INT32_MAX);
  if (width * bytes_of(format) % 16 != 0)
    return Status::failure(StatusCode::bad_input, "%s: a row of %" PRId64 " %s numbers is no multiple of 16 bytes",
                           call, width, to_text(format));
  return {};
}
}  // namespace

Status check_dispatch(const DispatchCall& call) {
  STORMCELL_TRY(check_rows("dispatch", call.decision, call.cells, call.width, call.format));
  STORMCELL_TRY(check_pointer("dispatch", "decision.offsets", call.decision.offsets, 4));
  STORMCELL_TRY(check_pointer("dispatch", "decision.cell", call.decision.cell, 4));
  if (call.cells == 0) return {};
  STORMCELL_TRY(check_pointer("dispatch", "from", call.from, 16));
  return check_pointer("dispatch", "to", call.to, 16);
}

Status check_combine(const CombineCall& call) {
  STORMCELL_TRY(check_rows("combine", call.decision, call.cells, call.width, call.format));
  STORMCELL_TRY(check_pointer("combine", "decision.slot", call.decision.slot, 4));
  if (call.weighted) STORMCELL_TRY(check_pointer("combine", "decision.choice_weight", call.decision.choice_weight, 4));
  if (call.cells == 0) return {};
  if (!call.unrouted_only) STORMCELL_TRY(check_pointer("combine", "from", call.from, 16));
  if (call.dropped) {
    STORMCELL_TRY(check_pointer("combine", "dropped", call.dropped, 16));
    STORMCELL_TRY(check_pointer("combine", "decision.choice", call.decision.choice, 4));
  }
  return check_pointer("combine", "to", call.to, 16);
}

}  // namespace stormcell::gpu
