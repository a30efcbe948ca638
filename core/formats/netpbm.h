// Pictures of the Netpbm formats in bytes: PPM (P6, three channels) and PGM (P5, one), 8 bits a channel.
#pragma once
#include <cstdint>
#include <string>

#include "core/formats/file_range.h"

namespace stormcell {

/// A picture in a file that stays open with it; rows from the top, channels last.
struct NetpbmPicture {
  int64_t height = 0, width = 0, channels = 0;
  FileRange bytes;
};

/// The header is fully checked, the pixels are not read. Error(bad_input): no such file, no picture of these formats,
/// truncated, more than one picture, a largest value that is not 255.
NetpbmPicture open_netpbm(const std::string& path);

}  // namespace stormcell
