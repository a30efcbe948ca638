// A folder of pictures, one a file, each of its own size, with labels where a file says them or where each class has a folder of its own. A
// format of pictures is a row in kFormats.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/data/folder_labels.h"
#include "core/data/picture_form.h"
#include "core/data/sequence_source.h"
#include "core/formats/file_text.h"
#include "core/formats/netpbm.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

/// What the head of a file says, and the rest when it is asked for.
struct PictureFile {
  PictureSize size;
  int64_t channels = 0;
  std::function<std::vector<float>()> pixels;  ///< [height, width, channels]
  /// outline_of(), of the folder and the file's name.
  std::function<Sequence(const std::string& where, const std::string& place)> outline;
};

PictureFile open_npy_picture(const std::string& path) {
  const NpyArray array = open_npy(path);
  constexpr const char* kForm = "give u8 from 0 to 255, or f32 from 0 to 1, as [height, width, channels]";
  if (array.dtype != DType::u8 && array.dtype != DType::f32) bad_input(path, "the array holds " + std::string(to_text(array.dtype)), kForm);
  if (array.shape.size() != 3) bad_input(path, "the array has the shape " + shape_text(array.shape), kForm);
  const PictureSize size{array.shape[0], array.shape[1]};
  return {size, array.shape[2], [array] { return pixels_of(array.dtype, array.bytes); },
          [array, size](const std::string& where, const std::string& place) {
            return outline_of(where, place, size, array.dtype, array.bytes);
          }};
}

PictureFile open_netpbm_picture(const std::string& path) {
  const NetpbmPicture picture = open_netpbm(path);
  const PictureSize size{picture.height, picture.width};
  return {size, picture.channels, [picture] { return pixels_of(DType::u8, picture.bytes); },
          [picture, size](const std::string& where, const std::string& place) {
            return outline_of(where, place, size, DType::u8, picture.bytes);
          }};
}

struct PictureFormat {
  std::string_view extension;
  PictureFile (*open)(const std::string& path);
};
constexpr std::array kFormats{PictureFormat{".npy", open_npy_picture}, PictureFormat{".ppm", open_netpbm_picture},
                              PictureFormat{".pgm", open_netpbm_picture}};

const PictureFormat* format_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  const auto at = std::find_if(kFormats.begin(), kFormats.end(), [&](const PictureFormat& f) { return f.extension == extension; });
  return at == kFormats.end() ? nullptr : &*at;
}

std::string known_extensions() {
  std::string list;
  for (const PictureFormat& f : kFormats) add_to_list(list, f.extension);
  return list;
}

/// What lies in a folder, sorted byte by byte; hidden ones are passed over.
struct Listing {
  std::vector<std::string> pictures, folders;
  bool labels = false;  ///< a file that says the pictures' labels
};

/// What is no picture is refused: left out it would not be missed.
[[noreturn]] void refuse_entry(const std::string& folder, const std::string& name) {
  bad_input(folder, "holds " + in_quotes(name) + ", which is no picture that this version reads",
            "keep only pictures in it, " + known_extensions() + ", all of them in it or all in a folder for each class");
}

Listing listing_of(const std::string& folder) {
  Listing list;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".")) continue;
    if (it->is_directory())
      list.folders.push_back(name);
    else if (format_of(it->path()))
      list.pictures.push_back(name);
    else if (name == kLabelsFile)
      list.labels = true;
    else
      refuse_entry(folder, name);
  }
  if (error) bad_input(folder, "cannot be listed: " + error.message(), "check its permissions");
  std::sort(list.pictures.begin(), list.pictures.end());
  std::sort(list.folders.begin(), list.folders.end());
  return list;
}

/// The pictures of a folder, or of a folder of folders, one a class.
struct Found {
  std::vector<std::string> names, labels;  ///< labels: one a picture, empty: it has none; an empty list: no picture has
  std::vector<std::string> classes;        ///< the folders' names
  std::vector<std::string> warnings;
};

Found find_in_classes(const std::string& folder, const Listing& list) {
  if (!list.pictures.empty()) refuse_entry(folder, list.folders.front());
  if (list.labels) bad_input(folder, "holds " + in_quotes(kLabelsFile) + " and folders, which both say labels", "keep one of them");
  Found found{{}, {}, list.folders, {}};
  for (const std::string& of : list.folders) {
    const std::string inner = (fs::path(folder) / of).string();
    const Listing pictures = listing_of(inner);
    if (!pictures.folders.empty() || pictures.labels)
      refuse_entry(inner, pictures.labels ? std::string(kLabelsFile) : pictures.folders.front());
    if (pictures.pictures.empty()) found.warnings.push_back(inner + " holds no picture: there is none of this class");
    for (const std::string& picture : pictures.pictures) found.names.push_back(of + "/" + picture), found.labels.push_back(of);
  }
  return found;
}

Found find_pictures(const std::string& folder) {
  Listing list = listing_of(folder);
  Found found;
  if (!list.folders.empty()) found = find_in_classes(folder, list);
  if (found.names.empty() && list.pictures.empty())
    bad_input(folder, "holds no picture", "a folder of pictures holds files " + known_extensions());
  if (!list.folders.empty()) return found;
  if (list.labels) {
    FolderLabels read = read_folder_labels(folder, list.pictures);
    for (const std::string& picture : list.pictures) found.labels.push_back(read.of[picture]);
    found.warnings = std::move(read.warnings);
  }
  found.names = std::move(list.pictures);
  return found;
}

class PictureFolder : public SequenceSource {
 public:
  PictureFolder(const std::string& folder, const PictureForm& form) : folder_(folder), form_(form), found_(find_pictures(folder)) {
    for (size_t i = 0; i < found_.names.size(); ++i) sizes_.push_back(open(i).size);
  }
  int64_t size() const override { return static_cast<int64_t>(found_.names.size()); }
  Contents contents() const override { return {.label = !found_.labels.empty(), .ids = false, .pixels = true}; }
  std::vector<std::string> classes() const override { return found_.classes; }
  std::vector<std::string> warnings() const override { return found_.warnings; }
  const std::string& where() const override { return folder_; }
  std::string place(int64_t index) const override { return found_.names[static_cast<size_t>(index)]; }
  Sequence sequence(int64_t index) const override {
    const PictureFile file = opened(index);
    return {.label = label_of(index), .pixels = file.pixels(), .picture = file.size};
  }
  Sequence outline(int64_t index) const override {
    Sequence item = opened(index).outline(folder_, place(index));
    item.label = label_of(index);
    return item;
  }

 private:
  std::string label_of(int64_t index) const { return found_.labels.empty() ? std::string() : found_.labels[static_cast<size_t>(index)]; }
  std::string path_of(size_t i) const { return (fs::path(folder_) / found_.names[i]).string(); }
  // Files are opened one by one: the pictures of a large folder would be too many to hold open.
  PictureFile opened(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    PictureFile file = open(i);
    if (file.size != sizes_[i]) bad_input(path_of(i), "has changed while it was in use", "start again");
    return file;
  }
  PictureFile open(size_t i) const {
    const std::string path = path_of(i);
    PictureFile file = format_of(path)->open(path);
    form_.check(path, "is a picture of", file.size, file.channels);
    return file;
  }

  std::string folder_;
  PictureForm form_;
  Found found_;
  std::vector<PictureSize> sizes_;
};

}  // namespace

std::unique_ptr<const SequenceSource> open_picture_folder(const std::string& folder, const PictureForm& form) {
  return std::make_unique<PictureFolder>(folder, form);
}

}  // namespace stormcell
