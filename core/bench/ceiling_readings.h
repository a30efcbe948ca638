// The ceilings of a device, read before, during and after measuring.
//
// A probe takes a fraction of a second. The processors of a virtual machine may change places within seconds, and its
// neighbours read the same memory, so one probe meets one moment only. Therefore several probes are spread over the
// time. The ceilings are the best readings of the first half and of the last.
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
  /// The best reading before measuring and in the first half of those since; the best of the last half. Figures are 0
  /// where nothing was read.
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
