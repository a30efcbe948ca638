// The ceilings of an open device, probe after probe, and the memory of a call without the memory of its probes.
#pragma once
#include <cstdint>

#include "core/base/progress.h"
#include "core/bench/ceiling_readings.h"
#include "core/runtime/device.h"

namespace stormcell {

class DeviceCeilings {
 public:
  /// Begins the readings of a call. The last reading of the call before is its first one.
  void begin_call();
  /// Adds a reading. `seconds`: for each figure. Resets the peak of resident memory, so that the buffer of the probe is
  /// not charged to the call.
  void probe(Device& device, double seconds, const CancellationToken& cancel);

  /// The best figures of all readings, also of earlier calls; kernels and placement are those of the last.
  const DeviceProbe& largest() const { return largest_; }
  /// Before, during and after the measuring of this call.
  CeilingReadings& readings() { return readings_; }
  const CeilingReadings& readings() const { return readings_; }
  /// The most resident memory of this call, in bytes, without the memory of probes.
  int64_t peak_resident() const;

 private:
  DeviceProbe largest_;
  CeilingReadings readings_;
  int64_t peak_before_probe_ = 0;  // of this call; the process counts anew behind each probe
};

}  // namespace stormcell
