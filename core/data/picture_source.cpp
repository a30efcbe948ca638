// Pictures of one size in an array: .npy [items, height, width, channels] and .safetensors with `pixels` and, where there are some,
// `labels`.
#include <optional>

#include "core/base/error.h"
#include "core/data/integer_matrix.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/data/tensor_names.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

class PixelArray {
 public:
  PixelArray(const std::string& where, const std::string& name, DType type, std::span<const int64_t> shape,
             std::span<const std::byte> bytes, const PictureForm& form)
      : bytes_(bytes), type_(type) {
    expect_pixels(where, name, type);
    if (shape.size() != 4) bad_input(where, name + " has the shape " + shape_text(shape), kPixelsForm);
    items_ = shape[0];
    if (items_ == 0) bad_input(where, name + " holds no picture", "there must be at least one");
    size_ = {shape[1], shape[2]};
    form.check(where, name + " holds pictures of", size_, shape[3]);
    picture_bytes_ = static_cast<size_t>(shape[1] * shape[2] * shape[3]) * element_size(type);
  }
  int64_t items() const { return items_; }
  Sequence picture(int64_t index) const {
    return {.pixels = pixels_of(type_, bytes_.subspan(static_cast<size_t>(index) * picture_bytes_, picture_bytes_)), .picture = size_};
  }

 private:
  std::span<const std::byte> bytes_;
  DType type_;
  int64_t items_ = 0;
  PictureSize size_;
  size_t picture_bytes_ = 0;
};

class NpyPictures : public SequenceSource {
 public:
  NpyPictures(const std::string& path, const PictureForm& form)
      : path_(path), array_(open_npy(path)), pixels_(path, "the array", array_.dtype, array_.shape, array_.bytes, form) {}
  int64_t size() const override { return pixels_.items(); }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return "picture " + std::to_string(index); }
  Sequence sequence(int64_t index) const override { return pixels_.picture(index); }

 private:
  std::string path_;
  NpyArray array_;
  PixelArray pixels_;
};

class TensorPictures : public SequenceSource {
 public:
  TensorPictures(const std::string& path, const DataOptions& options, const PictureForm& form)
      : path_(path), file_(SafetensorsFile::open(path)) {
    const StoredTensor* pixels = file_->find("pixels");
    if (!pixels) bad_input(path, "has no tensor pixels", kPixelsForm);
    static constexpr std::string_view kKnown[] = {"pixels", "labels"};
    warnings_ = check_tensor_names(path, *file_, kKnown);
    pixels_.emplace(path, "pixels", pixels->dtype, pixels->shape, pixels->bytes, form);
    if (asks_for(options.inputs, InputRole::label)) labels_ = find_labels(path, *file_, pixels_->items());
  }
  int64_t size() const override { return pixels_->items(); }
  Contents contents() const override { return {.ids = false, .pixels = true, .label_ids = labels_.has_value()}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return "picture " + std::to_string(index); }
  Sequence sequence(int64_t index) const override {
    Sequence item = pixels_->picture(index);
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

std::unique_ptr<const SequenceSource> open_npy_pictures(const std::string& path, const PictureForm& form) {
  return std::make_unique<NpyPictures>(path, form);
}
std::unique_ptr<const SequenceSource> open_tensor_pictures(const std::string& path, const DataOptions& options, const PictureForm& form) {
  return std::make_unique<TensorPictures>(path, options, form);
}

}  // namespace stormcell
