// Which kernel runs a step: the list of those that there are, and the choice among them.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {

/// What a kernel knows beside activations in f32 and weights in the format of their type.
struct Knows {
  bool bf16_in = false, bf16_out = false;  ///< input 0 may lie in bf16; outputs may
  bool formats = false;                    ///< weights are held as their annotation `format` says
};
struct KernelRow {
  std::string_view op, name;
  std::unique_ptr<Kernel> (*make)(const Making&);  ///< nullptr result: this case is not supported, the next row is tried
  Knows knows = {};
};
/// The visible list, in the order in which rows are tried.
std::span<const KernelRow> kernel_list();

/// The row of the step's operator that the node's annotation `kernel` names, else the first that supports the step, makes its kernel.
/// Throws Error(bad_input) that names the node where an annotation asks for what no kernel supports.
std::unique_ptr<Kernel> choose_kernel(const Making& making);

}  // namespace stormcell::cpu
