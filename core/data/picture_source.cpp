// Pictures of one size in an array: .npy [items, height, width, channels] and .safetensors with `pixels` and, where
// there are some, `labels`, `targets` and `judged`.
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/data/item_labels.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/data/target_classes.h"
#include "core/data/target_pictures.h"
#include "core/data/tensor_names.h"
#include "core/formats/gzip_file.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"
#include "core/formats/tensor_file.h"

namespace stormcell {
namespace {

std::string picture_place(int64_t index) { return "picture " + std::to_string(index); }

class PixelArray {
 public:
  PixelArray(const std::string& where, const std::string& name, DType type, std::span<const int64_t> shape,
             FileRange bytes, const PictureForm& form)
      : bytes_(std::move(bytes)), type_(type) {
    expect_pixels(where, name, type);
    if (shape.size() != 4) bad_input(where, name + " has the shape " + shape_text(shape), kPixelsForm);
    items_ = shape[0];
    if (items_ == 0) bad_input(where, name + " holds no picture", "there must be at least one");
    size_ = {shape[1], shape[2]};
    form.check(where, name + " holds pictures of", size_, shape[3]);
    picture_bytes_ = static_cast<size_t>(shape[1] * shape[2] * shape[3]) * element_size(type);
  }
  int64_t items() const { return items_; }
  Sequence picture(int64_t index) const { return {.pixels = pixels_of(type_, bytes_of(index)), .picture = size_}; }
  Sequence outline(const std::string& where, int64_t index) const {
    return outline_of(where, picture_place(index), size_, type_, bytes_of(index));
  }

 private:
  FileRange bytes_of(int64_t index) const {
    return bytes_.part(static_cast<size_t>(index) * picture_bytes_, picture_bytes_);
  }

  FileRange bytes_;
  DType type_;
  int64_t items_ = 0;
  PictureSize size_;
  size_t picture_bytes_ = 0;
};

class NpyPictures : public SequenceSource {
 public:
  NpyPictures(const std::string& path, const PictureForm& form, const Progress& progress)
      : path_(path),
        array_(open_npy(path, progress)),
        pixels_(path, "the array", array_.dtype, array_.shape, array_.bytes, form) {}
  int64_t size() const override { return pixels_.items(); }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return picture_place(index); }
  Sequence sequence(int64_t index) const override { return pixels_.picture(index); }
  Sequence outline(int64_t index) const override { return pixels_.outline(path_, index); }

 private:
  std::string path_;
  NpyArray array_;
  PixelArray pixels_;
};

class TensorPictures : public SequenceSource {
 public:
  TensorPictures(const std::string& path, const DataOptions& options, const PictureForm& form)
      : path_(path), file_(open_unpacked(path, {options.cancel, nullptr})) {
    static constexpr std::string_view kKnown[] = {"pixels", "labels", "targets", "judged"};
    warnings_ = check_tensor_names(path, file_, kKnown);
    const TensorPlace* pixels = file_.find("pixels");
    if (!pixels)
      bad_input(path, "has no tensor pixels" + held_instead(file_),
                "call the pictures pixels: u8 from 0 to 255, or f32 from 0 to 1, [items, height, width, channels]");
    pixels_.emplace(path, "pixels", pixels->dtype, pixels->shape, file_.range(*pixels), form);
    labels_ = ItemLabels(file_, options, pixels_->items());
    open_targets();
    const TensorPlace* labels = file_.find("labels");
    if (labels && !labels_.name_items() && !labels_.are_taken())
      warnings_.push_back(path + ": nothing reads labels " + shape_text(labels->shape) +
                          ": the model takes no labels of a picture's parts; labels [items] count loads by label");
  }
  int64_t size() const override { return pixels_->items(); }
  Contents contents() const override {
    return {.label = labels_.name_items(),
            .ids = false,
            .pixels = true,
            .label_ids = labels_.are_taken(),
            .target_picture = targets_.are_there(),
            .target_classes = classes_.are_there()};
  }
  const std::string& where() const override { return path_; }
  std::string place(int64_t index) const override { return picture_place(index); }
  Sequence sequence(int64_t index) const override { return labelled(index, pixels_->picture(index)); }
  Sequence outline(int64_t index) const override { return labelled(index, pixels_->outline(path_, index)); }
  TargetPicture target_picture(int64_t index) const override { return targets_.picture(index); }
  TargetPicture target_outline(int64_t index) const override { return targets_.outline(index); }
  ClassMap target_classes(int64_t index) const override { return classes_.map(index); }
  std::array<int64_t, 3> target_shape(int64_t) const override {
    return classes_.are_there() ? classes_.shape() : targets_.shape();
  }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  /// Tells targets apart by their extents: pictures have channels, classes have none.
  void open_targets() {
    const TensorPlace* targets = file_.find("targets");
    if (!targets) {
      if (file_.find("judged"))
        bad_input(path_, "has judged and no targets",
                  "add what the pictures should become, targets [items, height, width, channels], or what their pixels "
                  "show, targets " +
                      std::string("[items, height, width]"));
      return;
    }
    if (targets->shape.size() == 3)
      classes_ = TargetClasses(file_, *targets, pixels_->items());
    else
      targets_ = TargetPictures(file_, *targets, pixels_->items());
  }
  Sequence labelled(int64_t index, Sequence item) const {
    labels_.put(index, item);
    return item;
  }

  std::string path_;
  TensorFile file_;
  std::vector<std::string> warnings_;
  std::optional<PixelArray> pixels_;
  ItemLabels labels_;
  TargetPictures targets_;
  TargetClasses classes_;
};
}  // namespace

std::unique_ptr<const SequenceSource> open_npy_pictures(const std::string& path, const PictureForm& form,
                                                        const CancellationToken& cancel) {
  return std::make_unique<NpyPictures>(path, form, Progress{cancel, nullptr});
}
std::unique_ptr<const SequenceSource> open_tensor_pictures(const std::string& path, const DataOptions& options,
                                                           const PictureForm& form) {
  return std::make_unique<TensorPictures>(path, options, form);
}

}  // namespace stormcell
