// JPEG, by libjpeg-turbo if the build has it: grey and colours, baseline and progressive, turned as Exif says.
#pragma once
#include <string>
#include <string_view>

#include "core/formats/picture_file.h"

namespace stormcell {

/// The first bytes are a JPEG's.
bool begins_as_jpeg(std::string_view head);

/// The header is checked, nothing is decoded. Pixels are those of libjpeg-turbo's exact integer transform, turned as
/// Exif says; colour profiles are passed over. Error(bad_input) that names the file: damaged, truncated, CMYK, larger
/// than kMostPixels; or the build has no libjpeg.
PictureFile open_jpeg(const std::string& path);

}  // namespace stormcell
