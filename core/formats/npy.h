// NumPy's .npy files: little-endian i32, i64 and f32 arrays, and u8, in C order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

class MappedFile;

/// An array in a mapped file; `bytes` live as long as `file` and need not be aligned.
struct NpyArray {
  DType dtype{};
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> file;
};

/// Versions 1 to 3 of the format. The header is fully checked, the data is not touched.
NpyArray open_npy(const std::string& path);

}  // namespace stormcell
