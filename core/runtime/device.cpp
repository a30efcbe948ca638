#include "core/runtime/device.h"

namespace stormcell {

RecordParts record_parts(const DecisionShape& bound, int32_t score_columns) {
  const auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  RecordParts p{};
  p.choice = 64;
  p.weight = p.choice + aligned(bound.slot_count() * 4);
  p.margin = p.weight + aligned(bound.slot_count() * 4);
  p.ancestor = p.margin + aligned(bound.cells * 4);
  p.padded = p.ancestor + aligned(bound.cells * 4);
  p.scores = p.padded + aligned(int64_t{bound.branches} * 4);
  p.bytes = p.scores + aligned(bound.cells * score_columns * 4);
  return p;
}

int64_t ExecutableLayout::bytes() const {
  return memory.arena_bytes + memory.state_bytes + scratch_bytes + record_bytes +
         int64_t{most_events} * static_cast<int64_t>(sizeof(DeviceEvent));
}

int64_t Executable::status_bytes() const {
  const auto counters = static_cast<int64_t>(2 * program_->guards.size() + 2 * program_->routers.size() + program_->raggeds.size());
  // The events that follow hold 8-byte numbers.
  return (static_cast<int64_t>(sizeof(ExecutionStatus)) + counters * 4 + 7) / 8 * 8;
}

}  // namespace stormcell
