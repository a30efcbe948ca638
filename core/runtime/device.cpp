#include "core/runtime/device.h"

namespace stormcell {

int64_t ExecutableLayout::bytes() const {
  return memory.arena_bytes + memory.state_bytes + memory.page_bytes + scratch_bytes + record_bytes +
         int64_t{most_events} * static_cast<int64_t>(sizeof(DeviceEvent));
}

}  // namespace stormcell
