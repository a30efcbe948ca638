#include "core/cpu/kernels/format_kernels.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/error.h"
#include "core/cpu/kernels/dot.h"

namespace stormcell::cpu {
namespace {

constexpr std::array kFormatKernels = {
    FormatKernels{.format = DType::f32, .panel_step = 1, .product = &KernelTable::product_f32, .dot = dot_f32},
    FormatKernels{.format = DType::bf16,
                  .panel_step = 2,
                  .product = &KernelTable::product_bf16,
                  .rounds_x = &KernelTable::product_bf16_rounds_x},
    FormatKernels{.format = DType::q8_0, .dot = dot_q8_0},
};

}  // namespace

std::span<const FormatKernels> format_kernels() { return kFormatKernels; }

const FormatKernels* find_kernels(DType format) {
  const auto at = std::find_if(kFormatKernels.begin(), kFormatKernels.end(),
                               [&](const FormatKernels& k) { return k.format == format; });
  return at == kFormatKernels.end() ? nullptr : &*at;
}

DType panel_format(DType stored) {
  const FormatKernels* kernels = find_kernels(stored);
  return kernels && kernels->panel_step > 0 ? stored : DType::f32;
}

const FormatKernels& panel_kernels(DType format) {
  const FormatKernels* kernels = find_kernels(format);
  if (!kernels || kernels->panel_step == 0) failed("product", "no panels in " + std::string(to_text(format)));
  return *kernels;
}

DType plain_format(DType stored) {
  const FormatKernels* kernels = find_kernels(stored);
  return kernels && kernels->dot ? stored : DType::f32;
}

std::vector<DType> panel_formats() {
  std::vector<DType> formats;
  for (const FormatKernels& kernels : kFormatKernels)
    if (kernels.panel_step > 0) formats.push_back(kernels.format);
  return formats;
}

bool rounds_rows_of_x(DType weights) {
  const FormatKernels* row = find_kernels(weights);
  return row && row->rounds_x && kernels().*(row->rounds_x);
}

bool is_halves(DType format) { return format == DType::bf16; }

}  // namespace stormcell::cpu
