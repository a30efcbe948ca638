// Record of a wait in the tensor-core kernels that gave up, in the build with STORMCELL_STALL (device_check_stall). A
// kernel that traps takes its card's memory with it, so the record is in the host's.
#pragma once
#include <cstdint>

#include "gpu/base/status.h"

namespace stormcell::gpu {

/// The event that a wait waits for: a stage is filled, or is given back.
enum class Awaits : int32_t { full, empty_for_rows, empty_for_weights };
inline constexpr const char* to_text(Awaits what) {
  return what == Awaits::full ? "full" : what == Awaits::empty_for_rows ? "empty, for rows" : "empty, for weights";
}
struct Awaited {
  Awaits what;
  int32_t stage;
  int32_t depth;  ///< of the tile, in numbers: which use of the stage
};

/// Written by the first wait that gives up.
struct StallRecord {
  int32_t taken;  ///< 0: none has given up
  int32_t block, warp;
  Awaited awaited;
  uint32_t parity;
};
/// Ok, or the wait that gave up.
inline Status check_stall(const StallRecord& record) {
  if (record.taken == 0) return {};
  return Status::failure(
      StatusCode::device_fault, "stalled: block %d, warp %d, barrier '%s', stage %d, parity %u, depth %d", record.block,
      record.warp, to_text(record.awaited.what), record.awaited.stage, record.parity, record.awaited.depth);
}

/// The process's record, memory of the host that cards write; made at the first call, which must not be while a stream
/// is captured.
Status stall_record(StallRecord*& record);
/// The same for the process's record, if there is one; it can be read after a fault.
Status check_stall();

}  // namespace stormcell::gpu
