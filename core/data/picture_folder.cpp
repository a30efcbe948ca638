// A folder of pictures, one a file, each of its own size, with labels where a file says them or where each class has a folder of its own,
// and with targets where two folders hold the pictures and what they should become.
// What cannot be fed is skipped and counted, unless nothing is left (docs/decisions/033-pictures.md).
#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/data/folder_labels.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/data/target_folder.h"
#include "core/formats/file_text.h"
#include "core/formats/picture_formats.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

/// What lies in a folder, sorted byte by byte; hidden ones are passed over.
struct Listing {
  std::vector<std::string> files, folders;
  std::vector<std::string> empty;  ///< of the folders those in which nothing lies
  bool labels = false;             ///< a file that says the pictures' labels
};

/// What is no picture and no file: left out it would not be missed.
[[noreturn]] void refuse_entry(const std::string& folder, const std::string& name) {
  bad_input(folder, "holds " + in_quotes(name) + ", which is no picture that this version reads",
            "keep pictures in it (" + picture_format_names() + "), all of them in it, or all in a folder for each class, or in " +
                std::string(kInputsFolder) + " with what they should become in " + std::string(kTargetsFolder));
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

bool holds_nothing(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!is_hidden(it->path())) return false;
  return !error;
}

Listing listing_of(const std::string& folder) {
  Listing list;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (is_hidden(it->path())) continue;
    if (it->is_directory())
      list.folders.push_back(name);
    else if (name == kLabelsFile)
      list.labels = true;
    else
      list.files.push_back(name);
  }
  if (error) bad_input(folder, "cannot be listed: " + error.message(), "check its permissions");
  std::sort(list.files.begin(), list.files.end());
  std::sort(list.folders.begin(), list.folders.end());
  for (const std::string& name : list.folders)
    if (holds_nothing(fs::path(folder) / name)) list.empty.push_back(name);
  return list;
}

/// Nothing in it would be missed: it is passed over, and that is said.
void pass_over_empty(const std::string& folder, Listing& list, std::vector<std::string>& warnings) {
  for (const std::string& name : list.empty) {
    warnings.push_back((fs::path(folder) / name).string() + " is an empty folder beside files, and is passed over");
    std::erase(list.folders, name);
  }
  list.empty.clear();
}

/// The files of a folder, or of a folder of folders, one a class.
struct Found {
  std::vector<std::string> names, labels;  ///< labels: one a file, empty: it has none; an empty list: no picture has
  std::vector<std::string> classes;        ///< the folders' names
  std::vector<std::string> empty_classes;  ///< those in which no picture lies
  bool targets = false;                    ///< they lie in kInputsFolder, and targets beside it
  std::vector<std::string> warnings;
  std::vector<SkippedItem> skipped;
};

/// Beside folders a file that says something about them may lie, but no picture: of which class would it be?
std::vector<SkippedItem> skipped_beside_folders(const std::string& folder, const Listing& list) {
  std::vector<SkippedItem> skipped;
  for (const std::string& file : list.files) {
    if (is_picture((fs::path(folder) / file).string())) refuse_entry(folder, list.folders.front());
    skipped.push_back({file, "is no picture that this version reads"});
  }
  return skipped;
}

/// The files of a folder in which nothing else may lie.
std::vector<std::string> files_alone(const std::string& folder, std::vector<std::string>& warnings) {
  Listing files = listing_of(folder);
  pass_over_empty(folder, files, warnings);
  if (!files.folders.empty() || files.labels) refuse_entry(folder, files.labels ? std::string(kLabelsFile) : files.folders.front());
  return std::move(files.files);
}

/// Pictures whose target is not there are skipped one by one; a target without a picture would not be missed otherwise.
Found find_inputs(const std::string& folder, const Listing& list) {
  if (list.labels) bad_input(folder, "holds " + in_quotes(kLabelsFile) + " and " + std::string(kTargetsFolder), "keep one of them");
  Found found;
  found.targets = true;
  found.skipped = skipped_beside_folders(folder, list);
  const std::vector<std::string> inputs = files_alone((fs::path(folder) / kInputsFolder).string(), found.warnings);
  const std::string of_targets = (fs::path(folder) / kTargetsFolder).string();
  std::vector<std::string> alone;
  for (const std::string& target : files_alone(of_targets, found.warnings))
    if (!std::binary_search(inputs.begin(), inputs.end(), target)) alone.push_back(target);
  if (!alone.empty())
    found.warnings.push_back(of_targets + ": " + counted(static_cast<int64_t>(alone.size()), "target has", "targets have") +
                             " no picture in " + std::string(kInputsFolder) + "; the first is " + in_quotes(alone.front()));
  for (const std::string& file : inputs) found.names.push_back(std::string(kInputsFolder) + "/" + file);
  return found;
}

/// The classes by turns, each in proportion to its pictures: any part of the data is about as mixed as all of it.
Found find_in_classes(const std::string& folder, const Listing& list) {
  std::vector<SkippedItem> skipped = skipped_beside_folders(folder, list);
  if (list.labels) bad_input(folder, "holds " + in_quotes(kLabelsFile) + " and folders, which both say labels", "keep one of them");
  Found found;
  found.classes = list.folders, found.skipped = std::move(skipped);
  struct Place {
    double turn;  ///< the middle of its part of the class
    std::string name;
    const std::string* label;
  };
  std::vector<Place> places;
  for (const std::string& of : list.folders) {
    const std::string inner = (fs::path(folder) / of).string();
    const std::vector<std::string> files = files_alone(inner, found.warnings);
    if (files.empty()) {
      found.warnings.push_back(inner + " holds no picture: there is none of this class");
      found.empty_classes.push_back(of);
    }
    for (size_t i = 0; i < files.size(); ++i)
      places.push_back({(static_cast<double>(i) + 0.5) / static_cast<double>(files.size()), of + "/" + files[i], &of});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.turn < b.turn; });
  for (Place& place : places) found.names.push_back(std::move(place.name)), found.labels.push_back(*place.label);
  return found;
}

Found find_files(const std::string& folder) {
  Listing list = listing_of(folder);
  Found found;
  const bool has_pictures = std::any_of(list.files.begin(), list.files.end(),
                                        [&](const std::string& file) { return is_picture((fs::path(folder) / file).string()); });
  std::vector<std::string> passed_over;
  if (has_pictures) pass_over_empty(folder, list, passed_over);
  const auto holds = [&](std::string_view name) { return std::find(list.folders.begin(), list.folders.end(), name) != list.folders.end(); };
  const bool targets = holds(kInputsFolder) && holds(kTargetsFolder);
  if (targets && list.folders.size() > 2)
    bad_input(folder, "holds " + std::string(kInputsFolder) + " and " + std::string(kTargetsFolder) + " beside other folders",
              "keep those two alone; pixels that are not to be judged are told in a .safetensors file");
  if (!list.folders.empty()) found = targets ? find_inputs(folder, list) : find_in_classes(folder, list);
  if (found.names.empty() && list.files.empty())
    bad_input(folder, "holds no picture", "a folder of pictures holds files " + picture_format_names());
  if (!list.folders.empty()) return found;
  if (list.labels) {
    FolderLabels read = read_folder_labels(folder, list.files);
    for (const std::string& file : list.files) found.labels.push_back(read.of[file]);
    found.warnings = std::move(read.warnings);
  }
  found.warnings.insert(found.warnings.begin(), passed_over.begin(), passed_over.end());
  found.names = std::move(list.files);
  return found;
}

/// The message without the file that it begins with.
std::string reason_of(const Error& error, const std::string& file) {
  std::string text = error.what();
  if (text.starts_with(file + ": ")) text.erase(0, file.size() + 2);
  return text;
}

class PictureFolder : public SequenceSource {
 public:
  PictureFolder(const std::string& folder, const PictureForm& form, int64_t limit, const CancellationToken& cancel)
      : folder_(folder), form_(form) {
    Found found = find_files(folder);
    classes_ = std::move(found.classes), empty_classes_ = std::move(found.empty_classes), warnings_ = std::move(found.warnings);
    labelled_ = !found.labels.empty();
    skipped_ = std::move(found.skipped);
    if (found.targets) targets_.emplace((fs::path(folder) / kTargetsFolder).string(), form.channels);
    const size_t beside = skipped_.size();
    size_t looked_at = 0;
    for (; looked_at < found.names.size() && size() < limit; ++looked_at) {
      cancel.check();
      take(std::move(found.names[looked_at]), labelled_ ? std::move(found.labels[looked_at]) : std::string());
    }
    if (pictures_.empty()) refuse_all();
    warn_of_skipped(static_cast<int64_t>(beside + looked_at));
  }
  /// One file alone; what is wrong with it is an error.
  PictureFolder(const fs::path& file, const PictureForm& form) : folder_(file.parent_path().string()), form_(form) {
    pictures_.push_back({file.filename().string(), outline_of_file(file.string())});
  }
  int64_t size() const override { return static_cast<int64_t>(pictures_.size()); }
  Contents contents() const override { return {.label = labelled_, .ids = false, .pixels = true, .target_picture = targets_.has_value()}; }
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
  /// As the opening found it: a compressed picture is not decoded again for a few of its pixels.
  Sequence outline(int64_t index) const override { return of(index).outline; }
  TargetPicture target_picture(int64_t index) const override { return targets_->picture(index); }
  TargetPicture target_outline(int64_t index) const override { return targets_->outline(index); }
  std::array<int64_t, 3> target_shape(int64_t index) const override { return targets_->outline(index).shape; }

 private:
  struct Picture {
    std::string name;
    Sequence outline;  ///< with its label
  };

  const Picture& of(int64_t index) const { return pictures_[static_cast<size_t>(index)]; }
  std::string path_of(const std::string& name) const { return (fs::path(folder_) / name).string(); }
  static PictureSize size_of(const PictureFile& file) { return {file.header.height, file.header.width}; }

  // Files are opened one by one: the pictures of a large folder would be too many to hold open.
  PictureFile open(const std::string& path) const {
    PictureFile file = open_picture(path);
    form_.check(path, file);
    return file;
  }
  std::vector<float> pixels(const std::string& path, const PictureFile& file) const {
    return in_channels(file.decode ? file.decode() : pixels_of(file.type, file.stored), file.header.channels, form_.channels, path);
  }

  /// Pixels that lie in the file as they are cannot be wrong but where they are f32; others are decoded whole, once.
  Sequence outline_of_file(const std::string& path) const {
    const PictureFile file = open(path);
    if (!file.decode && file.header.channels == form_.channels) return outline_of(path, "it", size_of(file), file.type, file.stored);
    const std::vector<float> all = pixels(path, file);
    Sequence item{.picture = size_of(file)};
    visit_sampled(static_cast<int64_t>(all.size()), [&](int64_t first, int64_t count) {
      item.pixels.insert(item.pixels.end(), all.begin() + first, all.begin() + first + count);
    });
    return item;
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
    return std::string_view(error.what()).starts_with(path + ": ") ? "has a target that " + reason_of(error, path) : reason;
  }

  [[noreturn]] void refuse_all() const {
    const SkippedItem& first = skipped_.front();
    bad_input(folder_,
              "holds no picture that can be fed, of " + counted(static_cast<int64_t>(skipped_.size()), "file") + "; the first, " +
                  in_quotes(first.name) + ", " + first.reason,
              "give pictures that the model takes");
  }

  void warn_of_skipped(int64_t looked_at) {
    constexpr size_t kNamed = 3;
    if (skipped_.empty()) return;
    const auto all = static_cast<int64_t>(skipped_.size());
    std::string text = folder_ + ": " + with_commas(all) + " of " + counted(looked_at, "file") + (all == 1 ? " is" : " are") + " skipped: ";
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

std::unique_ptr<const SequenceSource> open_picture_folder(const std::string& folder, const PictureForm& form, int64_t limit,
                                                          const CancellationToken& cancel) {
  return std::make_unique<PictureFolder>(folder, form, limit, cancel);
}
std::unique_ptr<const SequenceSource> open_picture_file(const std::string& path, const PictureForm& form) {
  return std::make_unique<PictureFolder>(fs::path(path), form);
}

}  // namespace stormcell
