// The operators of the list of kernels, apart from the device, which the list's own source needs.
#include <algorithm>

#include "core/cpu/choose_kernel.h"
#include "core/cpu/cpu_device.h"

namespace stormcell::cpu {

std::vector<std::string_view> operators_with_kernels() {
  std::vector<std::string_view> operators;
  for (const KernelRow& row : kernel_list())
    if (std::find(operators.begin(), operators.end(), row.op) == operators.end()) operators.push_back(row.op);
  return operators;
}

}  // namespace stormcell::cpu
