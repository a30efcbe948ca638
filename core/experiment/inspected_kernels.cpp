#include "core/experiment/inspected_kernels.h"

#include <algorithm>
#include <iterator>

namespace stormcell {
namespace {

/// Lists of kernels with the devices that have them; an empty list counts as well.
std::vector<KernelsOfOperator> by_device(const std::string& op, std::span<const DeviceRow> devices) {
  std::vector<KernelsOfOperator> lists;
  for (const DeviceRow& device : devices) {
    std::vector<std::string> names = device.kernels(op);
    const auto same = [&](const KernelsOfOperator& list) { return list.names == names; };
    auto at = std::find_if(lists.begin(), lists.end(), same);
    if (at == lists.end()) at = lists.insert(at, {op, {}, std::move(names)});
    at->devices.push_back(device.name);
  }
  if (lists.size() == 1) lists.front().devices.clear();
  std::erase_if(lists, [](const KernelsOfOperator& list) { return list.names.empty(); });
  return lists;
}

}  // namespace

std::vector<KernelsOfOperator> inspected_kernels(std::span<const std::string> operators,
                                                 std::span<const DeviceRow> devices) {
  std::vector<KernelsOfOperator> all;
  for (const std::string& op : operators) std::ranges::move(by_device(op, devices), std::back_inserter(all));
  return all;
}

}  // namespace stormcell
