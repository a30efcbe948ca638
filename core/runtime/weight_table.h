// Addresses of weights by handle: one table in memory that the device reads, so that an executable knows handles alone.
#pragma once
#include "core/base/id.h"
#include "core/runtime/device_address.h"

namespace stormcell {

/// A weight of a WeightStore.
using WeightHandle = Id<struct WeightTag>;

/// Addresses by handle of a WeightStore; 0: the weight is not there.
struct WeightTable {
  const DeviceAddress* addresses = nullptr;
  DeviceAddress address(WeightHandle handle) const { return addresses[static_cast<size_t>(handle)]; }
};

}  // namespace stormcell
