// The tensors `targets` and `judged` of a .safetensors file: what each picture should become, and which of its pixels count.
#pragma once
#include <array>
#include <optional>
#include <string>

#include "core/data/sequence_source.h"
#include "core/formats/file_range.h"

namespace stormcell {

class TensorFile;

/// `targets` [items, height, width, channels], u8 from 0 to 255 or f32 from 0 to 1; `judged`, where it is there, u8 [items, height, width],
/// 0: the pixel does not count.
class TargetPictures {
 public:
  TargetPictures() = default;
  /// Error(bad_input) where they do not fit `items` or each other.
  TargetPictures(const TensorFile& file, int64_t items);
  bool are_there() const { return targets_.has_value(); }
  const std::array<int64_t, 3>& shape() const { return shape_; }
  /// Of f32, Error(bad_input) for values that are not finite.
  TargetPicture picture(int64_t index) const;
  /// Some of its values, and all that `judged` says of it: a mask of few pixels would be missed by some.
  TargetPicture outline(int64_t index) const;

 private:
  void read_judged(int64_t index, TargetPicture& picture) const;

  std::string path_;
  std::optional<FileRange> targets_, judged_;
  DType type_ = DType::u8;
  std::array<int64_t, 3> shape_{};
};

}  // namespace stormcell
