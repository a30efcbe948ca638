// The kernels that inspect lists: those of each operator on every device.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/bench/devices.h"
#include "core/summary/results.h"

namespace stormcell {

/// One element for each operator that a device has kernels for, in the order given. Where devices differ, one for each
/// list of kernels, with the devices that have it, in their order; a device without any is not named.
std::vector<KernelsOfOperator> inspected_kernels(std::span<const std::string> operators,
                                                 std::span<const DeviceRow> devices);

}  // namespace stormcell
