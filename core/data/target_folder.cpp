#include "core/data/target_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/data/picture_form.h"
#include "core/formats/picture_formats.h"

namespace stormcell {
namespace fs = std::filesystem;

std::string TargetFolder::path_of(const std::string& name) const { return (fs::path(folder_) / name).string(); }

TargetPicture TargetFolder::read(const std::string& name) const {
  const std::string path = path_of(name);
  std::error_code error;
  if (!fs::exists(path, error))
    bad_input(path, "is not there",
              "give each picture of " + std::string(kInputsFolder) + " a target of the same name");
  const PictureFile file = open_picture(path);
  const PictureHeader& header = file.header;
  check_picture_size(path, header.height, header.width);
  const int64_t channels = !file.is_array && fits_channels(header.channels, channels_) ? channels_ : header.channels;
  TargetPicture target{
      {header.height, header.width, channels}, file.decode ? file.decode() : pixels_of(file.type, file.stored), {}};
  if (channels != header.channels)
    target.values = in_channels(std::move(target.values), header.channels, channels, path);
  if (!std::all_of(target.values.begin(), target.values.end(), [](float v) { return std::isfinite(v); }))
    bad_input(path, "holds pixels that are not finite", "give numbers");
  return target;
}

void TargetFolder::add(const std::string& name) {
  const TargetPicture whole = read(name);
  targets_.push_back({name, {whole.shape, sampled(whole.values), {}}});
}

TargetPicture TargetFolder::picture(int64_t index) const {
  TargetPicture target = read(of(index).name);
  if (target.shape != of(index).outline.shape)
    bad_input(path_of(of(index).name), "has changed while it was in use", "start again");
  return target;
}

}  // namespace stormcell
