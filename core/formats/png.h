// PNG, by libpng if the build has it: any bit depth, palettes, interlaced.
#pragma once
#include <string>
#include <string_view>

#include "core/formats/picture_file.h"

namespace stormcell {

/// The first bytes are a PNG's.
bool begins_as_png(std::string_view head);

/// The header is checked, nothing is decoded. Grey of less than 8 bits and palettes become 8 bits, a colour or entry
/// that is transparent becomes opacity, 16 bits keep their precision; gamma, colour profiles and text are passed over.
/// Error(bad_input) that names the file: damaged, truncated, larger than kMostPixels; or the build has no libpng.
PictureFile open_png(const std::string& path);

}  // namespace stormcell
