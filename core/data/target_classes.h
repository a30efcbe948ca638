// The tensor `targets` of a .safetensors file with classes: the class of each pixel.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "core/base/dtype.h"
#include "core/data/judged_pixels.h"
#include "core/data/sequence.h"
#include "core/formats/file_range.h"

namespace stormcell {

class TensorFile;
struct TensorPlace;

/// `targets` [items, height, width]: the class of each pixel, u8 or i32. Pixels of 255 in u8 (as in PASCAL VOC and
/// Cityscapes) or below 0 in i32 do not count, nor do those that `judged` excludes.
class TargetClasses {
 public:
  TargetClasses() = default;
  /// Error(bad_input) if they do not fit `items` or each other.
  TargetClasses(const TensorFile& file, const TensorPlace& targets, int64_t items);
  bool are_there() const { return targets_.has_value(); }
  /// Height, width, 1.
  const std::array<int64_t, 3>& shape() const { return shape_; }
  ClassMap map(int64_t index) const;

 private:
  std::optional<FileRange> targets_;
  JudgedPixels judged_;
  DType type_ = DType::u8;
  std::array<int64_t, 3> shape_{};
};

}  // namespace stormcell
