#include "core/bench/devices.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/bench/device_list.h"
#include "core/cpu/cpu_device.h"

namespace stormcell {
namespace {

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) {
  return std::make_unique<cpu::CpuDevice>(options.threads > 0 ? options.threads : available_cores());
}

constexpr std::array kDevices = {DeviceRow{"cpu", open_cpu, cpu::kernel_names}};

}  // namespace

std::span<const DeviceRow> devices() { return kDevices; }

std::vector<std::string> list_devices() {
  std::vector<std::string> names;
  for (const DeviceRow& row : devices()) names.emplace_back(row.name);
  return names;
}

void check_device(std::string_view device) {
  const std::vector<std::string> known = list_devices();
  if (std::find(known.begin(), known.end(), device) != known.end()) return;
  const bool planned = device == "cuda" || device.starts_with("cuda:");
  bad_input("--device", "\"" + std::string(device) + "\"" + (planned ? ": not in this version" : " is no device"),
            advice_on_word(device, known));
}

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  check_device(name);
  const auto all = devices();
  return std::find_if(all.begin(), all.end(), [&](const DeviceRow& row) { return row.name == name; })->open(options);
}

}  // namespace stormcell
