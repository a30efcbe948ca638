#include "core/base/number_format.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"

namespace stormcell {
namespace {

constexpr std::array kNumberFormats = {
    NumberFormat{.type = DType::f32,
                 .name = "f32",
                 .block_bytes = 4,
                 .exponent = 0x7f800000,
                 .converts = true,
                 .multiplies = true,
                 .offered = true},
    NumberFormat{
        .type = DType::f16, .name = "f16", .block_bytes = 2, .exponent = 0x7c00, .converts = true, .multiplies = true},
    NumberFormat{.type = DType::bf16,
                 .name = "bf16",
                 .block_bytes = 2,
                 .exponent = 0x7f80,
                 .converts = true,
                 .multiplies = true,
                 .offered = true,
                 .own_products = true,
                 .rounds_rows = true,
                 .product_tolerance = kRoundedTolerance,
                 .conversion_tolerance = 5e-2},
    NumberFormat{.type = DType::f64, .name = "f64", .block_bytes = 8},
    NumberFormat{.type = DType::f8_e4m3, .name = "f8_e4m3", .block_bytes = 1, .scaled_by_blocks = true},
    NumberFormat{.type = DType::f8_e5m2, .name = "f8_e5m2", .block_bytes = 1, .scaled_by_blocks = true},
    NumberFormat{.type = DType::i8, .name = "i8", .block_bytes = 1},
    NumberFormat{.type = DType::u8, .name = "u8", .block_bytes = 1},
    NumberFormat{.type = DType::i16, .name = "i16", .block_bytes = 2},
    NumberFormat{.type = DType::u16, .name = "u16", .block_bytes = 2},
    NumberFormat{.type = DType::i32, .name = "i32", .block_bytes = 4},
    NumberFormat{.type = DType::u32, .name = "u32", .block_bytes = 4},
    NumberFormat{.type = DType::i64, .name = "i64", .block_bytes = 8},
    NumberFormat{.type = DType::u64, .name = "u64", .block_bytes = 8},
    NumberFormat{.type = DType::boolean, .name = "bool", .block_bytes = 1},
    // Blocks of GGUF files (block_q8_0 and the others in ggml-common.h of ggml). Nothing converts weights to them, so
    // they are not offered.
    NumberFormat{.type = DType::q8_0,
                 .name = "q8_0",
                 .block_elements = 32,
                 .block_bytes = 34,
                 .exponent = 0x7c00,
                 .multiplies = true,
                 .conversion_tolerance = 2e-2},
    NumberFormat{.type = DType::q4_0,
                 .name = "q4_0",
                 .block_elements = 32,
                 .block_bytes = 18,
                 .exponent = 0x7c00,
                 .multiplies = true},
    NumberFormat{.type = DType::q4_k,
                 .name = "q4_k",
                 .block_elements = 256,
                 .block_bytes = 144,
                 .exponent = 0x7c00,
                 .scales = 2,
                 .multiplies = true},
    NumberFormat{.type = DType::q5_k,
                 .name = "q5_k",
                 .block_elements = 256,
                 .block_bytes = 176,
                 .exponent = 0x7c00,
                 .scales = 2,
                 .multiplies = true},
    NumberFormat{.type = DType::q6_k,
                 .name = "q6_k",
                 .block_elements = 256,
                 .block_bytes = 210,
                 .exponent = 0x7c00,
                 .scales_at = 208,
                 .multiplies = true},
    // The scale is a power of two in one byte, of which 255 is NaN (OCP Microscaling Formats 1.0).
    NumberFormat{.type = DType::mxfp4,
                 .name = "mxfp4",
                 .block_elements = 32,
                 .block_bytes = 17,
                 .exponent = 0xff,
                 .multiplies = true},
};

consteval bool is_in_order_of_types() {
  for (size_t i = 0; i < kNumberFormats.size(); ++i)
    if (static_cast<size_t>(kNumberFormats[i].type) != i) return false;
  return true;
}
static_assert(is_in_order_of_types(), "format_of() finds the row of a type by its number");

}  // namespace

std::span<const NumberFormat> number_formats() { return kNumberFormats; }

const NumberFormat& format_of(DType type) { return row_of(kNumberFormats, type); }

bool is_whole_blocks(DType type, int64_t n) { return n >= 0 && n % format_of(type).block_elements == 0; }

int64_t row_bytes(DType type, int64_t n) {
  const NumberFormat& format = format_of(type);
  const auto refuse = [&](const std::string& expected) {
    bad_input("number format " + std::string(format.name),
              "expected rows of " + expected + ", got a row of " + std::to_string(n));
  };
  if (!is_whole_blocks(type, n)) refuse("whole blocks of " + std::to_string(format.block_elements) + " elements");
  int64_t bytes = 0;
  if (__builtin_mul_overflow(n / format.block_elements, int64_t{format.block_bytes}, &bytes))
    refuse("fewer than 2^63 bytes");
  return bytes;
}

int64_t tensor_bytes(DType type, std::span<const int64_t> shape) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (__builtin_mul_overflow(rows, shape[i], &rows)) bad_input("tensor", "expected fewer than 2^63 rows");
  // A tensor without rows has no bytes, whatever the length of a row.
  if (rows == 0 && is_whole_blocks(type, shape.back())) return 0;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, row_bytes(type, shape.empty() ? 1 : shape.back()), &bytes))
    bad_input("tensor", "expected fewer than 2^63 bytes");
  return bytes;
}

std::string product_format_names() {
  std::vector<std::string_view> names;
  for (const NumberFormat& format : kNumberFormats)
    if (format.multiplies) names.push_back(format.name);
  return either(names);
}

DType state_format(DType weights) { return format_of(weights).rounds_rows ? weights : DType::f32; }

std::vector<std::string> offered_formats() {
  std::vector<std::string> names;
  for (const NumberFormat& format : kNumberFormats)
    if (format.offered) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> row_formats() {
  std::vector<std::string> names;
  for (const NumberFormat& format : kNumberFormats)
    if (format.type == DType::f32 || format.rounds_rows) names.emplace_back(format.name);
  return names;
}

const NumberFormat& smallest_offered_format(std::span<const DType> types) {
  const NumberFormat* smallest = &format_of(DType::f32);
  for (const NumberFormat& format : kNumberFormats) {
    const bool is_listed = types.empty() || std::find(types.begin(), types.end(), format.type) != types.end();
    if (format.offered && is_listed &&
        format.block_bytes * smallest->block_elements < smallest->block_bytes * format.block_elements)
      smallest = &format;
  }
  return *smallest;
}

}  // namespace stormcell
