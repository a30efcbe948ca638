#include "core/data/target_pictures.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {

TargetPictures::TargetPictures(const TensorFile& file, const TensorPlace& targets, int64_t items) : path_(file.path()) {
  expect_pixels(path_, "targets", targets.dtype);
  if (targets.shape.size() != 4 || targets.shape[0] != items)
    bad_input(path_, "targets has the shape " + shape_text(targets.shape) + ", the pictures are " + std::to_string(items),
              "give targets [items, height, width, channels], or classes [items, height, width]");
  std::copy_n(targets.shape.begin() + 1, 3, shape_.begin());
  type_ = targets.dtype;
  targets_ = file.range(targets);
  judged_ = JudgedPixels(file, targets);
}

TargetPicture TargetPictures::picture(int64_t index) const {
  TargetPicture picture{shape_, {}, judged_.of(index)};
  const size_t bytes = static_cast<size_t>(shape_[0] * shape_[1] * shape_[2]) * element_size(type_);
  picture.values = pixels_of(type_, targets_->part(static_cast<size_t>(index) * bytes, bytes));
  if (!std::all_of(picture.values.begin(), picture.values.end(), [](float v) { return std::isfinite(v); }))
    bad_input(path_, "the target of picture " + std::to_string(index) + " holds values that are not finite", "give numbers");
  return picture;
}

}  // namespace stormcell
