// The kernels that may run a step, as a list, and the choice among them.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "core/cpu/cpu_kernel.h"
#include "core/runtime/kernel_choice.h"

namespace stormcell::cpu {

struct KernelRow {
  std::string_view op, name;
  std::unique_ptr<Kernel> (*make)(
      const BuildContext&);  ///< nullptr result: this case is not supported, the next row is tried
  KernelKnows knows = {};
};
/// The visible list, in the order in which rows are tried.
std::span<const KernelRow> kernel_list();

/// Does stormcell::choose_kernel() among these.
std::unique_ptr<Kernel> choose_kernel(const BuildContext& making);

}  // namespace stormcell::cpu
