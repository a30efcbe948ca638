#include "core/data/judged_pixels.h"

#include <span>

#include "core/base/error.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {

JudgedPixels::JudgedPixels(const TensorFile& file, const TensorPlace& targets) {
  const TensorPlace* judged = file.find("judged");
  if (!judged) return;
  if (judged->dtype != DType::u8 ||
      judged->shape != std::vector<int64_t>(targets.shape.begin(), targets.shape.begin() + 3))
    bad_input(file.path(),
              "judged holds " + std::string(to_text(judged->dtype)) + " " + shape_text(judged->shape) +
                  ", the targets are " + shape_text(targets.shape),
              "give judged as u8 [items, height, width], 0 where a pixel does not count");
  values_ = file.range(*judged);
  pixels_ = static_cast<size_t>(judged->shape[1] * judged->shape[2]);
}

std::vector<uint8_t> JudgedPixels::of(int64_t index) const {
  if (!values_) return {};
  std::vector<uint8_t> values(pixels_);
  values_->read(static_cast<size_t>(index) * pixels_, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace stormcell
