// A folder of pictures, one a file, each of its own size. A file may hold their labels, or each class has a folder of
// its own; or two folders hold the pictures and their targets. Files that cannot be fed are skipped and counted, unless
// none is left (docs/decisions/033-pictures.md).
#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/data/picture_listing.h"
#include "core/data/sequence_source.h"
#include "core/data/target_folder.h"
#include "core/formats/file_text.h"
#include "core/formats/picture_formats.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

/// The message without the file that it begins with.
std::string reason_of(const Error& error, const std::string& file) {
  std::string text = error.what();
  if (text.starts_with(file + ": ")) text.erase(0, file.size() + 2);
  return text;
}

class PictureFolder : public SequenceSource {
 public:
  static std::unique_ptr<const SequenceSource> of_folder(const std::string& folder, const PictureForm& form,
                                                         int64_t limit, const CancellationToken& cancel) {
    std::unique_ptr<PictureFolder> pictures(new PictureFolder(folder, form));
    pictures->take_all(list_pictures(folder), limit, cancel);
    return pictures;
  }
  /// A single file; any fault of it is an error.
  static std::unique_ptr<const SequenceSource> of_file(const fs::path& file, const PictureForm& form) {
    std::unique_ptr<PictureFolder> picture(new PictureFolder(file.parent_path().string(), form));
    picture->pictures_.push_back({file.filename().string(), picture->outline_of_file(file.string())});
    return picture;
  }
  int64_t size() const override { return std::ssize(pictures_); }
  Contents contents() const override {
    return {.label = labelled_, .ids = false, .pixels = true, .target_picture = targets_.has_value()};
  }
  std::vector<std::string> classes() const override { return classes_; }
  std::vector<std::string> empty_classes() const override { return empty_classes_; }
  std::vector<std::string> warnings() const override { return warnings_; }
  std::vector<SkippedItem> skipped() const override { return skipped_; }
  const std::string& where() const override { return folder_; }
  std::string place(int64_t index) const override { return of(index).name; }
  Sequence sequence(int64_t index) const override {
    const Picture& picture = of(index);
    const std::string path = path_of(picture.name);
    const PictureFile file = open(path);
    if (size_of(file) != picture.outline.picture) bad_input(path, "has changed while it was in use", "start again");
    return {.label = picture.outline.label, .pixels = pixels(path, file), .picture = picture.outline.picture};
  }
  /// The outline from the opening: a compressed picture is not decoded again for a few of its pixels.
  Sequence outline(int64_t index) const override { return of(index).outline; }
  TargetPicture target_picture(int64_t index) const override { return targets_->picture(index); }
  TargetPicture target_outline(int64_t index) const override { return targets_->outline(index); }
  std::array<int64_t, 3> target_shape(int64_t index) const override { return targets_->outline(index).shape; }

 private:
  struct Picture {
    std::string name;
    Sequence outline;  ///< with its label
  };

  PictureFolder(std::string folder, const PictureForm& form) : folder_(std::move(folder)), form_(form) {}

  const Picture& of(int64_t index) const { return pictures_[index]; }
  std::string path_of(const std::string& name) const { return (fs::path(folder_) / name).string(); }
  static PictureSize size_of(const PictureFile& file) { return {file.header.height, file.header.width}; }

  // Files are opened one by one: the pictures of a large folder would be too many to hold open.
  PictureFile open(const std::string& path) const {
    PictureFile file = open_picture(path);
    form_.check(path, file);
    return file;
  }
  std::vector<float> pixels(const std::string& path, const PictureFile& file) const {
    return in_channels(file.decode ? file.decode() : pixels_of(file.type, file.stored), file.header.channels,
                       form_.channels, path);
  }

  /// Pixels stored unpacked are always valid unless they are f32; other pictures are decoded completely, once.
  Sequence outline_of_file(const std::string& path) const {
    const PictureFile file = open(path);
    if (!file.decode && file.header.channels == form_.channels)
      return outline_of(path, "it", size_of(file), file.type, file.stored);
    return {.pixels = sampled(pixels(path, file)), .picture = size_of(file)};
  }

  void take_all(PictureListing found, int64_t limit, const CancellationToken& cancel) {
    classes_ = std::move(found.classes), empty_classes_ = std::move(found.empty_classes),
    warnings_ = std::move(found.warnings);
    labelled_ = !found.labels.empty();
    skipped_ = std::move(found.skipped);
    if (found.targets) targets_.emplace((fs::path(folder_) / kTargetsFolder).string(), form_.channels);
    const size_t beside = skipped_.size();
    size_t looked_at = 0;
    for (; looked_at < found.names.size() && size() < limit; ++looked_at) {
      cancel.check();
      take(std::move(found.names[looked_at]), labelled_ ? std::move(found.labels[looked_at]) : std::string());
    }
    if (pictures_.empty()) refuse_all();
    warn_of_skipped(static_cast<int64_t>(beside + looked_at));
  }
  void take(std::string name, std::string label) {
    const std::string path = path_of(name), file = fs::path(name).filename().string();
    try {
      Sequence outline = outline_of_file(path);
      outline.label = std::move(label);
      if (targets_) targets_->add(file);
      pictures_.push_back({std::move(name), std::move(outline)});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      std::string reason = reason_of(error, path);
      if (targets_) reason = of_target(error, file, std::move(reason));
      skipped_.push_back({std::move(name), std::move(reason)});
    } catch (const std::bad_alloc&) {
      skipped_.push_back({std::move(name), "takes more memory to read than there is (resize it)"});
    }
  }
  /// "has a target that is not there"
  std::string of_target(const Error& error, const std::string& file, std::string reason) const {
    const std::string path = targets_->path_of(file);
    return std::string_view(error.what()).starts_with(path + ": ") ? "has a target that " + reason_of(error, path)
                                                                   : reason;
  }

  [[noreturn]] void refuse_all() const {
    const SkippedItem& first = skipped_.front();
    bad_input(folder_,
              "holds no picture that can be fed, of " + counted(std::ssize(skipped_), "file") + "; the first, " +
                  in_quotes(first.name) + ", " + first.reason,
              "give pictures that the model takes");
  }

  void warn_of_skipped(int64_t looked_at) {
    constexpr size_t kNamed = 3;
    if (skipped_.empty()) return;
    const auto all = std::ssize(skipped_);
    std::string text = folder_ + ": " + with_commas(all) + " of " + counted(looked_at, "file") +
                       (all == 1 ? " is" : " are") + " skipped: ";
    for (size_t i = 0; i < std::min(kNamed, skipped_.size()); ++i)
      text += (i > 0 ? "; " : "") + in_quotes(skipped_[i].name) + " " + skipped_[i].reason;
    if (skipped_.size() > kNamed) text += "; and " + counted(all - static_cast<int64_t>(kNamed), "other");
    warnings_.push_back(std::move(text));
  }

  std::string folder_;
  PictureForm form_;
  bool labelled_ = false;
  std::vector<Picture> pictures_;
  std::optional<TargetFolder> targets_;  // as pictures_
  std::vector<SkippedItem> skipped_;
  std::vector<std::string> classes_, empty_classes_, warnings_;
};

}  // namespace

std::unique_ptr<const SequenceSource> open_picture_folder(const std::string& folder, const PictureForm& form,
                                                          int64_t limit, const CancellationToken& cancel) {
  return PictureFolder::of_folder(folder, form, limit, cancel);
}
std::unique_ptr<const SequenceSource> open_picture_file(const std::string& path, const PictureForm& form) {
  return PictureFolder::of_file(path, form);
}

}  // namespace stormcell
