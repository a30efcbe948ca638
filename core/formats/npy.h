// Reads NumPy's .npy: little-endian arrays of whole numbers or f32, as a file or as bytes within another file. Files
// are in C order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/progress.h"
#include "core/formats/file_range.h"

namespace stormcell {

/// The types that the caller can use; messages name no others.
enum class NpyTypes : uint8_t { whole_or_f32, whole };
/// The orders of elements that the caller can use.
enum class NpyOrders : uint8_t { c, any };

/// An array in a file that stays open with it.
struct NpyArray {
  DType dtype{};
  std::vector<int64_t> shape;
  FileRange bytes;
};

/// Versions 1 to 3 of the format. Error(bad_input) if the type is not one of `types`. The header is fully checked, the
/// data are not read.
NpyArray open_npy(const std::string& path, const Progress& progress = {}, NpyTypes types = NpyTypes::whole_or_f32);

/// The header of an array, which describes the bytes after it.
struct NpyHeader {
  DType dtype{};
  std::vector<int64_t> shape;
  size_t data_begin = 0, data_bytes = 0;
  bool first_index_runs = false;  ///< Fortran order: neighbours differ in their first index
};
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
/// Reads an array of `size` bytes through `read`, which returns the bytes from an offset on. Error(bad_input) that
/// names `where`: the array is damaged, or its data are not as long as its shape.
NpyHeader read_npy_header(const std::function<void(size_t, std::span<std::byte>)>& read, size_t size,
                          const std::string& where, NpyTypes types = NpyTypes::whole_or_f32,
                          NpyOrders orders = NpyOrders::c);
/// The same for bytes in memory.
NpyHeader read_npy_header(std::string_view bytes, const std::string& where, NpyTypes types = NpyTypes::whole_or_f32,
                          NpyOrders orders = NpyOrders::c);

}  // namespace stormcell
