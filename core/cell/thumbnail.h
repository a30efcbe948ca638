// A small copy of a picture that a session keeps, so that a reader of the routing sees the input.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/cell/picture_size.h"

namespace stormcell {

/// Pixels of the longer side.
inline constexpr int64_t kThumbnailSide = 96;
/// Limits of one run: number of pictures, and bytes of all together. Demos keep pictures unasked and have a lower limit
/// of bytes.
inline constexpr int64_t kMostThumbnails = 4096, kMostThumbnailBytes = int64_t{64} << 20,
                         kUnaskedThumbnailBytes = int64_t{4} << 20;

struct Thumbnail {
  PictureSize size;             ///< of the thumbnail; 0x0: there is none
  int64_t channels = 0;         ///< 1 grey, 3 colours
  std::vector<uint8_t> pixels;  ///< [height, width, channels], rows from the top; 0 to 255
  bool empty() const { return pixels.empty(); }
  bool operator==(const Thumbnail&) const = default;
};

/// Size of a thumbnail: the longer side is at most kThumbnailSide, the other in proportion and at least 1. It is never
/// larger than the picture.
PictureSize thumbnail_size(PictureSize size);
/// Bytes of such a thumbnail: 0 if thumbnail_of() gives none.
int64_t thumbnail_bytes(PictureSize size, int64_t channels);
/// Each pixel is the mean of the pixels that it stands for. `pixels`: [height, width, channels] from 0 to 1; values
/// beyond that become black or white. Empty unless the channels are grey or colours: the meaning of others is not
/// known.
Thumbnail thumbnail_of(std::span<const float> pixels, PictureSize size, int64_t channels);

}  // namespace stormcell
