// A folder of pictures, one a file, each of its own size. A format of pictures is a row in kFormats.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include "core/base/error.h"
#include "core/base/listed_words.h"
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

/// Names of the files, sorted byte by byte; hidden ones are passed over. What is no picture is refused: left out it would not be missed.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".")) continue;
    if (!format_of(it->path()) || it->is_directory())
      bad_input(folder, "holds " + in_quotes(name) + ", which is no picture that this version reads",
                "keep only pictures in it: " + known_extensions());
    names.push_back(name);
  }
  if (error) bad_input(folder, "cannot be listed: " + error.message(), "check its permissions");
  if (names.empty()) bad_input(folder, "holds no picture", "a folder of pictures holds files " + known_extensions());
  std::sort(names.begin(), names.end());
  return names;
}

class PictureFolder : public SequenceSource {
 public:
  PictureFolder(const std::string& folder, const PictureForm& form) : folder_(folder), form_(form), names_(names_in(folder)) {
    for (size_t i = 0; i < names_.size(); ++i) sizes_.push_back(open(i).size);
  }
  int64_t size() const override { return static_cast<int64_t>(names_.size()); }
  Contents contents() const override { return {.ids = false, .pixels = true}; }
  const std::string& where() const override { return folder_; }
  std::string place(int64_t index) const override { return names_[static_cast<size_t>(index)]; }
  Sequence sequence(int64_t index) const override {
    const PictureFile file = opened(index);
    return {.pixels = file.pixels(), .picture = file.size};
  }
  Sequence outline(int64_t index) const override { return opened(index).outline(folder_, place(index)); }

 private:
  std::string path_of(size_t i) const { return (fs::path(folder_) / names_[i]).string(); }
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
  std::vector<std::string> names_;
  std::vector<PictureSize> sizes_;
};

}  // namespace

std::unique_ptr<const SequenceSource> open_picture_folder(const std::string& folder, const PictureForm& form) {
  return std::make_unique<PictureFolder>(folder, form);
}

}  // namespace stormcell
