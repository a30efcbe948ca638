// The kernel that runs a step. A device lists its kernels as rows of a type of its own with these members:
//   std::string_view op, name;
//   KernelKnows knows;
//   make: called with what the device's kernels are made from; gives a pointer to a kernel, null if it does not
//   support the case.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/bf16_rows.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell {

/// The abilities of a kernel beyond f32 activations and weights in the format of their type.
struct KernelKnows {
  bool bf16_in = false, bf16_out = false;  ///< input 0 may lie in bf16; outputs may
  bool formats = false;                    ///< weights are held as their annotation `format` says
};

/// The first ability that the step needs and the kernel lacks; empty: none.
std::string not_known(const KernelBuildContext& context, const KernelKnows& knows);

/// A kernel of the step's operator, beside others that do not run it.
struct KernelOffer {
  std::string_view name;
  std::string lacks;      ///< not_known()
  bool supports = false;  ///< it would run the step, were it asked for
};
/// Throws Error that names the node: no kernel of `device` runs it, or not the one that is asked for, and which ones
/// would. Its kind is bad_input if an annotation asks for it, else failed.
[[noreturn]] void refuse_kernel(const KernelBuildContext& context, std::span<const KernelOffer> offers,
                                std::string_view device);

/// The row of the step's operator that the node's annotation `kernel` names, else the first that supports the step,
/// makes its kernel. Throws as refuse_kernel() does. `context` is a KernelBuildContext, or what a device made of it.
template <class Row, class Context>
auto choose_kernel(std::span<const Row> rows, const Context& context, std::string_view device) {
  const std::string_view op = context.node().op->name;
  const std::string* asked = context.asked_kernel();
  for (const Row& row : rows)
    if (row.op == op && (!asked || row.name == *asked) && not_known(context, row.knows).empty())
      if (auto kernel = row.make(context)) return kernel;
  std::vector<KernelOffer> offers;
  for (const Row& row : rows)
    if (row.op == op) {
      const std::string lacks = not_known(context, row.knows);
      offers.push_back({row.name, lacks, lacks.empty() && row.make(context)});
    }
  refuse_kernel(context, offers, device);
}

/// The names of an operator's kernels, in the order in which they are tried.
template <class Row>
std::vector<std::string> kernel_names(std::span<const Row> rows, std::string_view op) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    if (row.op == op) names.emplace_back(row.name);
  return names;
}

/// Operators with a kernel for activations in bf16.
template <class Row>
Bf16Rows bf16_rows(std::span<const Row> rows) {
  Bf16Rows of;
  for (const Row& row : rows) {
    if (row.knows.bf16_in) of.read.push_back(row.op);
    if (row.knows.bf16_out) of.write.push_back(row.op);
  }
  return of;
}

}  // namespace stormcell
