// The tensor `judged` of a .safetensors file: which pixels of the targets count.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/file_range.h"

namespace stormcell {

class TensorFile;
struct TensorPlace;

/// u8 [items, height, width], 0: the pixel does not count. Without it, all pixels count.
class JudgedPixels {
 public:
  JudgedPixels() = default;
  /// Error(bad_input) unless it has the first three extents of `targets`.
  JudgedPixels(const TensorFile& file, const TensorPlace& targets);
  /// [height, width] of one item; empty: all count.
  std::vector<uint8_t> of(int64_t index) const;

 private:
  std::optional<FileRange> values_;
  size_t pixels_ = 0;  // of an item
};

}  // namespace stormcell
