#include "core/data/target_classes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>

#include "core/base/error.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {

TargetClasses::TargetClasses(const TensorFile& file, const TensorPlace& targets, int64_t items) {
  constexpr const char* kForm =
      "give targets [items, height, width] as u8 (255: not judged) or i32 (negative: not judged)";
  if (targets.dtype != DType::u8 && targets.dtype != DType::i32)
    bad_input(file.path(),
              "targets " + shape_text(targets.shape) + " holds " + std::string(to_text(targets.dtype)) +
                  ", classes are integers",
              kForm);
  if (targets.shape[0] != items)
    bad_input(file.path(),
              "targets has the shape " + shape_text(targets.shape) + ", the pictures are " + std::to_string(items),
              kForm);
  shape_ = {targets.shape[1], targets.shape[2], 1};
  type_ = targets.dtype;
  targets_ = file.range(targets);
  judged_ = JudgedPixels(file, targets);
}

ClassMap TargetClasses::map(int64_t index) const {
  constexpr uint8_t kVoid = 255;
  ClassMap map{{shape_[0], shape_[1]}, std::vector<int32_t>(shape_[0] * shape_[1]), {}};
  const size_t pixels = map.classes.size(), first = static_cast<size_t>(index) * pixels;
  if (type_ == DType::i32) {
    targets_->read(first * sizeof(int32_t), std::as_writable_bytes(std::span(map.classes)));
    std::replace_if(
        map.classes.begin(), map.classes.end(), [](int32_t c) { return c < 0; }, kNotJudged);
  } else {
    std::vector<uint8_t> bytes(pixels);
    targets_->read(first, std::as_writable_bytes(std::span(bytes)));
    std::transform(bytes.begin(), bytes.end(), map.classes.begin(),
                   [](uint8_t c) { return c == kVoid ? kNotJudged : int32_t{c}; });
  }
  const std::set<int32_t> shown(map.classes.begin(), map.classes.end());
  std::copy_if(shown.begin(), shown.end(), std::back_inserter(map.shown), [](int32_t c) { return c != kNotJudged; });
  const std::vector<uint8_t> judged = judged_.of(index);
  for (size_t i = 0; i < judged.size(); ++i)
    if (judged[i] == 0) map.classes[i] = kNotJudged;
  return map;
}

}  // namespace stormcell
