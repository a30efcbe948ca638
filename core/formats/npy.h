// NumPy's .npy files: little-endian i32, i64 and f32 arrays, and u8, in C order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/progress.h"
#include "core/formats/file_range.h"

namespace stormcell {

/// An array in a file that stays open with it.
struct NpyArray {
  DType dtype{};
  std::vector<int64_t> shape;
  FileRange bytes;
};

/// Versions 1 to 3 of the format. The header is fully checked, the data are not read.
NpyArray open_npy(const std::string& path, const Progress& progress = {});

}  // namespace stormcell
