#include "core/experiment/devices.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/summary/settings.h"

namespace stormcell {
namespace {

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) { return std::make_unique<cpu::CpuDevice>(options.threads); }

constexpr std::array kDevices = {DeviceRow{"cpu", open_cpu}};

}  // namespace

std::span<const DeviceRow> device_list() { return kDevices; }

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  check_device(name);
  const auto row = std::find_if(kDevices.begin(), kDevices.end(), [&](const DeviceRow& r) { return r.name == name; });
  if (row == kDevices.end()) failed("--device", "\"" + std::string(name) + "\" has no row in the list of devices");
  return row->open(options);
}

}  // namespace stormcell
