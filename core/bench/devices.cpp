#include "core/bench/devices.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/bench/device_names.h"
#include "core/cpu/cpu_device.h"
#include "gpu/device/examine.h"
#include "gpu/device/module.h"
#include "gpu/plan/kernel_rows.h"

namespace stormcell {
namespace {

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) {
  return std::make_unique<cpu::CpuDevice>(options.threads > 0 ? options.threads : available_cores());
}

/// The module and the card are looked for here, not before: asking the driver takes a part of a second.
std::unique_ptr<Device> open_cuda(const DeviceOptions& options) {
  return card::open_first_card(card::module_folders(), options.threads > 0 ? options.threads : available_cores());
}

std::vector<std::string> cuda_kernel_names(std::string_view op) { return kernel_names(gpu::plan_rows(), op); }

/// Made when it is first asked for, so that no other initialisation comes before or behind it.
DeviceList& list_of_program() {
  static DeviceList list(
      std::vector<DeviceRow>{{"cpu", open_cpu, cpu::kernel_names}, {"cuda", open_cuda, cuda_kernel_names}});
  return list;
}

/// "cuda", "cuda:1".
bool is_device_name(std::string_view name) {
  const auto all = [](std::string_view text, auto&& allows) {
    return !text.empty() && std::all_of(text.begin(), text.end(), allows);
  };
  const auto in_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const size_t colon = name.find(':');
  return all(name.substr(0, colon), in_word) &&
         (colon == std::string_view::npos || all(name.substr(colon + 1), is_digit));
}

const DeviceRow* find_row(const std::vector<DeviceRow>& rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const DeviceRow& row) { return row.name == name; });
  return at == rows.end() ? nullptr : &*at;
}

std::vector<std::string> names_of(const std::vector<DeviceRow>& rows) {
  std::vector<std::string> names;
  for (const DeviceRow& row : rows) names.push_back(row.name);
  return names;
}

[[noreturn]] void refuse_device(std::string_view device, const std::vector<std::string>& known) {
  bad_input("--device", "\"" + std::string(device) + "\" is not a device", advice_on_word(device, known));
}

}  // namespace

void DeviceList::add(std::vector<DeviceRow> rows) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < rows.size(); ++i) {
    const DeviceRow& row = rows[i];
    const std::string where = "device \"" + row.name + "\"";
    if (!is_device_name(row.name))
      failed(where, "is not a name of a device", "use a word, or a word and a number: cuda:1");
    if (!row.open || !row.kernels) failed(where, "has nothing that opens it, or no list of its kernels");
    const auto same = [&](const DeviceRow& other) { return other.name == row.name; };
    if (find_row(rows_, row.name) || std::any_of(rows.begin(), rows.begin() + i, same))
      failed(where, "is in the list of devices already");
  }
  rows_.insert(rows_.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

std::vector<DeviceRow> DeviceList::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

std::vector<DeviceRow> devices() { return list_of_program().rows(); }

void add_device_rows(std::vector<DeviceRow> rows) { list_of_program().add(std::move(rows)); }

std::vector<std::string> list_devices() { return names_of(devices()); }

void check_device(std::string_view device) { device_row(device); }

DeviceRow device_row(std::string_view name) {
  const std::vector<DeviceRow> rows = devices();
  if (const DeviceRow* row = find_row(rows, name)) return *row;
  refuse_device(name, names_of(rows));
}

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  std::unique_ptr<Device> device = device_row(name).open(options);
  // An empty list is not asked: passes would take the device to compute everything.
  if (device->info().operators.empty())
    failed("device \"" + std::string(name) + "\"", "names no operator that it computes");
  return device;
}

}  // namespace stormcell
