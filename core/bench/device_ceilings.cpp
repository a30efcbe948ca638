#include "core/bench/device_ceilings.h"

#include <algorithm>
#include <utility>

#include "core/machine/memory.h"

namespace stormcell {

void DeviceCeilings::begin_call() {
  peak_before_probe_ = 0;
  readings_.keep_last();
}

void DeviceCeilings::probe(Device& device, double seconds, const CancellationToken& cancel) {
  const bool is_first = readings_.empty();
  if (!is_first) peak_before_probe_ = peak_resident();
  // A model may fill the memory: then the buffer is smaller. A rate that such a buffer reads from a cache is no ceiling
  // of memory, so it is not used.
  constexpr int64_t kMost = int64_t{512} << 20, kLeast = int64_t{128} << 20;
  const int64_t room = device.free_bytes().value_or(available_memory()) / 2;
  DeviceProbe now = device.probe({std::clamp<int64_t>(room, int64_t{16} << 20, kMost), seconds}, cancel);
  cancel.check();
  if (!is_first && room < kLeast) now.read_gbs = largest_.read_gbs;
  largest_ = larger(largest_, now);
  readings_.add(std::move(now));
  reset_peak_resident_memory();
}

int64_t DeviceCeilings::peak_resident() const { return std::max(peak_before_probe_, peak_resident_memory()); }

}  // namespace stormcell
