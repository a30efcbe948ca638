// What programs can run on: the visible list, in the order in which it is shown.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/device.h"

namespace stormcell {

struct DeviceOptions {
  int threads = 0;  ///< of a device that runs on the host's; 0: all cores this process may use
};

struct DeviceRow {
  std::string_view name;  ///< "cpu", as --device calls it
  std::unique_ptr<Device> (*open)(const DeviceOptions& options) = nullptr;
  std::vector<std::string> (*kernels)(std::string_view op) = nullptr;  ///< names of those of an operator, in the order they are tried
};
std::span<const DeviceRow> devices();

/// Throws Error(bad_input) for a name that no row has (check_device), Error(failed) where the device cannot be opened.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace stormcell
