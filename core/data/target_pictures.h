// The tensor `targets` of a .safetensors file with pictures: the picture that each item should become.
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

/// `targets` [items, height, width, channels], u8 from 0 to 255 or f32 from 0 to 1, and which of their pixels count.
class TargetPictures {
 public:
  TargetPictures() = default;
  /// Error(bad_input) if they do not fit `items` or each other.
  TargetPictures(const TensorFile& file, const TensorPlace& targets, int64_t items);
  bool are_there() const { return targets_.has_value(); }
  const std::array<int64_t, 3>& shape() const { return shape_; }
  /// The picture at `index`. Error(bad_input) if it is f32 and its values are not finite.
  TargetPicture picture(int64_t index) const;
  /// A sample of its values, and all of `judged`: a sample could miss a mask of few pixels.
  TargetPicture outline(int64_t index) const;

 private:
  std::string path_;
  std::optional<FileRange> targets_;
  JudgedPixels judged_;
  DType type_ = DType::u8;
  std::array<int64_t, 3> shape_{};
};

}  // namespace stormcell
