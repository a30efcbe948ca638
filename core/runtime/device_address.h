#pragma once
#include <cstdint>

namespace stormcell {

/// An address in a device's own memory. The host must not follow it.
struct DeviceAddress {
  uint64_t value = 0;
  explicit operator bool() const { return value != 0; }
  DeviceAddress operator+(int64_t bytes) const { return {value + static_cast<uint64_t>(bytes)}; }
};

}  // namespace stormcell
