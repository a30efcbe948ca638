// Pictures in arrays: .npy [items, height, width, channels] and .safetensors with `pixels` and, where there are some, `labels`.
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/data/integer_matrix.h"
#include "core/data/sequence_source.h"
#include "core/data/tensor_names.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

constexpr const char* kForm = "give u8 from 0 to 255, or f32, as [items, height, width, channels]";

/// Bytes become 0 to 1.
class PixelArray {
 public:
  PixelArray(const std::string& where, const std::string& name, DType type, std::span<const int64_t> shape,
             std::span<const std::byte> bytes, const std::vector<int64_t>& picture)
      : bytes_(bytes), type_(type) {
    if (type != DType::u8 && type != DType::f32) bad_input(where, name + " holds " + std::string(to_text(type)), kForm);
    if (shape.size() != 4) bad_input(where, name + " has the shape " + shape_text(shape), kForm);
    items_ = shape[0];
    if (items_ == 0) bad_input(where, name + " holds no picture", "there must be at least one");
    if (!std::equal(shape.begin() + 1, shape.end(), picture.begin(), picture.end()))
      bad_input(where, name + " holds pictures of " + shape_text(shape.subspan(1)) + ", the model takes " + shape_text(picture),
                "resize them to [height, width, channels] as the model has them");
    for (const int64_t extent : picture) values_ *= static_cast<size_t>(extent);
  }
  int64_t items() const { return items_; }
  std::vector<float> picture(int64_t index) const {
    std::vector<float> pixels(values_);
    const std::byte* from = bytes_.data() + static_cast<size_t>(index) * values_ * element_size(type_);
    if (type_ == DType::f32)
      std::memcpy(pixels.data(), from, values_ * sizeof(float));
    else
      for (size_t i = 0; i < values_; ++i) pixels[i] = static_cast<float>(std::to_integer<int>(from[i])) / 255.0F;
    return pixels;
  }

 private:
  std::span<const std::byte> bytes_;
  DType type_;
  int64_t items_ = 0;
  size_t values_ = 1;
};

class NpyPictures : public SequenceSource {
 public:
  NpyPictures(const std::string& path, const std::vector<int64_t>& picture)
      : path_(path), array_(open_npy(path)), pixels_(path, "the array", array_.dtype, array_.shape, array_.bytes, picture) {}
  int64_t size() const override { return pixels_.items(); }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return "picture " + std::to_string(index); }
  Sequence sequence(int64_t index) const override { return {.pixels = pixels_.picture(index)}; }

 private:
  std::string path_;
  NpyArray array_;
  PixelArray pixels_;
};

class TensorPictures : public SequenceSource {
 public:
  TensorPictures(const std::string& path, const DataOptions& options, const std::vector<int64_t>& picture)
      : path_(path), file_(SafetensorsFile::open(path)) {
    const StoredTensor* pixels = file_->find("pixels");
    if (!pixels) bad_input(path, "has no tensor pixels", kForm);
    static constexpr std::string_view kKnown[] = {"pixels", "labels"};
    warnings_ = check_tensor_names(path, *file_, kKnown);
    pixels_.emplace(path, "pixels", pixels->dtype, pixels->shape, pixels->bytes, picture);
    if (asks_for(options.inputs, InputRole::label)) labels_ = find_labels(path, *file_, pixels_->items());
  }
  int64_t size() const override { return pixels_->items(); }
  Contents contents() const override { return {.ids = false, .pixels = true, .label_ids = labels_.has_value()}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return "picture " + std::to_string(index); }
  Sequence sequence(int64_t index) const override {
    Sequence item{.pixels = pixels_->picture(index)};
    if (labels_) item.label_ids = labels_->row(index);
    return item;
  }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  std::string path_;
  std::shared_ptr<const SafetensorsFile> file_;
  std::vector<std::string> warnings_;
  std::optional<PixelArray> pixels_;
  std::optional<IntegerMatrix> labels_;
};
}  // namespace

std::unique_ptr<const SequenceSource> open_npy_pictures(const std::string& path, const std::vector<int64_t>& picture) {
  return std::make_unique<NpyPictures>(path, picture);
}
std::unique_ptr<const SequenceSource> open_tensor_pictures(const std::string& path, const DataOptions& options,
                                                           const std::vector<int64_t>& picture) {
  return std::make_unique<TensorPictures>(path, options, picture);
}

}  // namespace stormcell
