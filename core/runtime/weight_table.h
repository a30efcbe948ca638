// Where weights lie, by handle: one table in memory that the device reads, so that an executable knows handles alone.
#pragma once
#include "core/runtime/device_address.h"

namespace stormcell {

/// Addresses by handle of a WeightStore; 0: the weight is not there.
struct WeightTable {
  const DeviceAddress* addresses = nullptr;
  DeviceAddress address(int32_t handle) const { return addresses[handle]; }
};

}  // namespace stormcell
