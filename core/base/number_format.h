// Number formats: one row each. The rest of the engine asks the row and does not know formats by name
// (docs/add-a-number-format.md).
//
// The table holds facts only. The kernels that multiply by a format are listed in core/cpu/kernels/format_kernels.cpp,
// and the oracle's own reading of its bytes is listed in core/oracle/stored_formats.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

/// Largest difference between an output and the reference, as a share of its largest value: for products in f32, and
/// for products with rounded inputs.
inline constexpr double kF32Tolerance = 1e-4, kRoundedTolerance = 2e-2;

/// A format stores elements in blocks. A format of single elements has blocks of one element.
///
/// A row of a matrix (its last extent) is a whole number of blocks, and nothing is padded: row_bytes() refuses any
/// other length.
struct NumberFormat {
  DType type = DType::f32;
  std::string_view name;       ///< in graphs, recipes, options and JSON
  int32_t block_elements = 1;  ///< neighbours along the last extent
  int32_t block_bytes = 0;     ///< with everything that belongs to the block, such as its scale
  /// Mask of the exponent of the numbers that the whole block depends on: the element itself, or the scales. All ones:
  /// NaN or infinite. The mask says their size: more than 16 bits: 4 bytes, more than 8 bits: 2, else 1. 0: the block
  /// has no such number.
  uint32_t exponent = 0;
  int32_t scales_at = 0;          ///< the byte of the block where they begin
  int32_t scales = 1;             ///< how many lie there one after another
  bool converts = false;          ///< to_f32() and from_f32() know it, and so do recipes and --dtype
  bool multiplies = false;        ///< the weights of `linear` may be stored in it
  bool scaled_by_blocks = false;  ///< too coarse without a scale for each block, which the recipe block_scale applies
  bool offered = false;           ///< a user may ask for it: --dtype, and the annotation `format`
  bool own_products = false;      ///< products have instructions for it on some devices: inputs are rounded to it there
                                  ///< (DeviceInfo says where), and its peak rate is measured apart from that of f32
  /// states and activations in f32 may be kept in it: rows are rounded to it when they are stored
  bool rounds_rows = false;
  /// of a plan whose products use it, against an oracle with the same weights
  double product_tolerance = kF32Tolerance;
  /// of a model whose weights were converted to it, against the stored weights
  double conversion_tolerance = kF32Tolerance;

  bool is_blocks() const { return block_elements > 1; }
  /// Bytes of one number that `exponent` is the mask of.
  int32_t scale_bytes() const { return exponent > 0xffff ? 4 : exponent > 0xff ? 2 : 1; }
};

/// The visible list, in the order of DType.
std::span<const NumberFormat> number_formats();
const NumberFormat& format_of(DType type);

/// True if rows of `n` elements are whole blocks.
bool is_whole_blocks(DType type, int64_t n);
/// Bytes of a row of `n` elements. Throws Error(bad_input) that names the format if the row is not whole blocks, or
/// takes 2^63 bytes.
int64_t row_bytes(DType type, int64_t n);
/// Bytes of a tensor, row by row along its last extent; a scalar is a row of one element. Throws as row_bytes().
int64_t tensor_bytes(DType type, std::span<const int64_t> shape);

/// Names of the formats that weights of products may be stored in, as a message lists them: "f32, f16, ... or mxfp4".
std::string product_format_names();

/// The format in which states are kept beside weights in `weights`: the same where rows may be kept in it, else f32.
DType state_format(DType weights);

/// Names of the formats that a user may ask for, in the order of the list.
std::vector<std::string> offered_formats();
/// Names of the formats that activations may be kept in: f32, and those to which rows are rounded.
std::vector<std::string> row_formats();
/// The offered format with the fewest bits an element, among f32 and those in `types`; `types` empty: among all.
const NumberFormat& smallest_offered_format(std::span<const DType> types = {});

}  // namespace stormcell
