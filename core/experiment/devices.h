// What programs can run on: the visible list, in the order in which it is shown.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/runtime/device.h"

namespace stormcell {

struct DeviceOptions {
  int threads = 1;  ///< of a device that runs on the host's
};

struct DeviceRow {
  std::string_view name;  ///< "cpu", as --device calls it
  std::unique_ptr<Device> (*open)(const DeviceOptions& options) = nullptr;
};
std::span<const DeviceRow> devices();

/// Throws Error(bad_input) for a name that no row has (check_device), Error(failed) where the device cannot be opened.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace stormcell
