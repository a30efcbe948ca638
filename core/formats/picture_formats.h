// Every format of pictures, one row each; a file is recognised by its first bytes, never by its name.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/formats/picture_file.h"

namespace stormcell {

struct PictureFormat {
  std::string_view name;  ///< "PNG"
  /// the Debian package without which this build was made and does not read it; empty: it does
  std::string_view lacked;
  bool (*begins)(std::string_view head);
  PictureFile (*open)(const std::string& path);
};

std::span<const PictureFormat> picture_formats();
/// "PNG, JPEG, ...": those that this build reads.
std::string picture_format_names();

/// The file can be read and begins as one of these formats, whether this build reads it or not.
bool is_picture(const std::string& path);
/// Error(bad_input) that names the file: it cannot be read, is of no such format, its header is wrong, or it is
/// truncated as far as that shows before decoding.
PictureFile open_picture(const std::string& path);

}  // namespace stormcell
