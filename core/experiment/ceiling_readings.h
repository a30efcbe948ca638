// What the device could do at most, as it was probed before, during and after measuring.
//
// A probe takes a fraction of a second. Where a virtual machine's processors change places within seconds, or its neighbours read the same
// memory, one probe meets one moment only. So several probes are spread over the time, and the best of the first half and of the last are
// the ceilings then.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/runtime/device_probe.h"

namespace stormcell {

class CeilingReadings {
 public:
  void add(DeviceProbe reading) { readings_.push_back(std::move(reading)); }
  /// Measuring begins: what was read so far is of the time before it. Without this call, only the first reading is.
  void begin() { before_ = readings_.size(); }
  /// The last reading becomes the first of a new measurement.
  void keep_last();
  bool empty() const { return readings_.empty(); }
  size_t size() const { return readings_.size(); }
  /// True if each ceiling was reached three times.
  bool agree() const;
  /// The best reading before measuring and in the first half of those since; the best of the last half. Figures are 0 where nothing was
  /// read.
  std::array<DeviceProbe, 2> halves() const;
  /// The placements that were met, the most frequent first.
  std::vector<std::string> placements() const;

 private:
  std::vector<DeviceProbe> readings_;
  size_t before_ = 1;
};

/// Each figure the larger of the two; kernels and placement are those of `b`.
DeviceProbe larger(const DeviceProbe& a, DeviceProbe b);

}  // namespace stormcell
