// The kernels that multiply by weights in a number format: one row for each format that has any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/dtype.h"
#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu {

struct FormatKernels {
  DType format = DType::f32;
  /// Products with panels of it (packed_weight.h): elements of k in a step of 256 bytes. 0: there are no panels of it,
  /// and no such product.
  int64_t panel_step = 0;
  void (*KernelTable::*product)(const ProductTask&) = nullptr;
  /// Whether that product wants rows of x in this format; null: it never does.
  bool KernelTable::*rounds_x = nullptr;
  /// The kernels that read it in blocks, as it is stored; null: it has none.
  BlockKernels KernelTable::*blocks = nullptr;
  /// The sum over n of x[i] times element i of a row as it is stored. Null: the weights are held in f32 for the plain
  /// product.
  float (*dot)(const float* x, const std::byte* row, int64_t n) = nullptr;
};

/// The visible list.
std::span<const FormatKernels> format_kernels();
/// Null: no kernel multiplies by weights in this format.
const FormatKernels* find_kernels(DType format);

/// The format in which panels hold weights that are stored in `stored`: the same where there are panels of it, else
/// f32.
DType panel_format(DType stored);
/// The kernels of a format with panels. Throws Error(failed) for another one.
const FormatKernels& panel_kernels(DType format);
/// The format in which the plain product reads weights that are stored in `stored`: the same where it has a dot
/// product, else f32.
DType plain_format(DType stored);
/// The active kernels that read a format in blocks; null: it has none.
const BlockKernels* block_kernels(DType format);
/// Bytes of 64 columns of weights, as the product with them reads them: a panel, or rows in blocks. Throws
/// Error(failed) for a format without either.
size_t columns_bytes(int64_t k, DType format);
/// The active product with them.
void (*columns_product(DType format))(const ProductTask&);
/// The formats with panels: those that DeviceInfo::formats names.
std::vector<DType> panel_formats();

/// Whether the active kernels round rows of x to this format of weights before they multiply.
bool rounds_rows_of_x(DType weights);
/// Whether rows lie in bf16: the 16-bit elements of Rows::halves(), which round_row writes and widen_row reads.
bool is_halves(DType format);

}  // namespace stormcell::cpu
