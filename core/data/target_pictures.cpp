#include "core/data/target_pictures.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {
namespace {
int64_t values_of(const std::array<int64_t, 3>& shape) { return shape[0] * shape[1] * shape[2]; }
}  // namespace

TargetPictures::TargetPictures(const TensorFile& file, const TensorPlace& targets, int64_t items) : path_(file.path()) {
  expect_pixels(path_, "targets", targets.dtype);
  if (targets.shape.size() != 4 || targets.shape[0] != items)
    bad_input(path_,
              "targets has the shape " + shape_text(targets.shape) + ", the pictures are " + std::to_string(items),
              "give targets [items, height, width, channels], or classes [items, height, width]");
  std::copy_n(targets.shape.begin() + 1, 3, shape_.begin());
  type_ = targets.dtype;
  targets_ = file.range(targets);
  judged_ = JudgedPixels(file, targets);
}

TargetPicture TargetPictures::picture(int64_t index) const {
  TargetPicture picture{shape_, {}, judged_.of(index)};
  const size_t bytes = static_cast<size_t>(values_of(shape_)) * element_size(type_);
  picture.values = pixels_of(type_, targets_->part(static_cast<size_t>(index) * bytes, bytes));
  if (!std::all_of(picture.values.begin(), picture.values.end(), [](float v) { return std::isfinite(v); }))
    bad_input(path_, "the target of picture " + std::to_string(index) + " holds values that are not finite",
              "give numbers");
  return picture;
}

TargetPicture TargetPictures::outline(int64_t index) const {
  TargetPicture picture{shape_, {}, judged_.of(index)};
  const size_t element = element_size(type_);
  const int64_t values = values_of(shape_);
  visit_sampled(values, [&](int64_t first, int64_t count) {
    const FileRange run =
        targets_->part(static_cast<size_t>(index * values + first) * element, static_cast<size_t>(count) * element);
    const std::vector<float> some = pixels_of(type_, run);
    picture.values.insert(picture.values.end(), some.begin(), some.end());
  });
  return picture;
}

}  // namespace stormcell
