#include "core/cpu/kernels/format_kernels.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/cpu/kernels/dot.h"
#include "core/cpu/kernels/packed_weight.h"

namespace stormcell::cpu {
namespace {

/// Expands some elements at a time, and multiplies them as floats.
template <DType format, BlockKernels KernelTable::*Kernels>
float dot_blocks(const float* x, const std::byte* row, int64_t n) {
  constexpr int64_t kSome = 256;  // whole blocks of every format
  alignas(64) float some[kSome];
  const BlockKernels& blocks = kernels().*Kernels;
  float sum = 0;
  for (int64_t i = 0; i < n; i += kSome) {
    const int64_t count = std::min(kSome, n - i);
    blocks.expand(row, count, some);
    row += row_bytes(format, count);
    sum += dot_f32(x + i, reinterpret_cast<const std::byte*>(some), count);
  }
  return sum;
}
template <DType format, BlockKernels KernelTable::*Kernels>
constexpr FormatKernels in_blocks() {
  return {.format = format, .blocks = Kernels, .dot = dot_blocks<format, Kernels>};
}

constexpr std::array kFormatKernels = {
    FormatKernels{.format = DType::f32, .panel_step = 1, .product = &KernelTable::product_f32, .dot = dot_f32},
    FormatKernels{.format = DType::bf16,
                  .panel_step = 2,
                  .product = &KernelTable::product_bf16,
                  .rounds_x = &KernelTable::product_bf16_rounds_x},
    in_blocks<DType::q8_0, &KernelTable::q8_0>(),
    in_blocks<DType::q4_0, &KernelTable::q4_0>(),
    in_blocks<DType::q4_k, &KernelTable::q4_k>(),
    in_blocks<DType::q5_k, &KernelTable::q5_k>(),
    in_blocks<DType::q6_k, &KernelTable::q6_k>(),
    in_blocks<DType::mxfp4, &KernelTable::mxfp4>(),
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

const BlockKernels* block_kernels(DType format) {
  const FormatKernels* row = find_kernels(format);
  return row && row->blocks ? &(kernels().*(row->blocks)) : nullptr;
}

size_t columns_bytes(int64_t k, DType format) {
  if (block_kernels(format)) return static_cast<size_t>(kPanelColumns * row_bytes(format, k));
  return panel_bytes(k, format);
}

void (*columns_product(DType format))(const ProductTask&) {
  if (const BlockKernels* blocks = block_kernels(format)) return blocks->product;
  return kernels().*(panel_kernels(format).product);
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
