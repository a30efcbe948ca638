// The devices that there are, for programs that name them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// Names of devices as --device has them, the one that is used where nobody asks first.
std::vector<std::string> list_devices();
/// Throws Error(bad_input) that names --device: no device, or none of this version.
void check_device(std::string_view device);

}  // namespace stormcell
