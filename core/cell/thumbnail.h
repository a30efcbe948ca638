// A picture made small: what a session keeps of an input, so that who looks at routing sees what was routed.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/cell/picture_size.h"

namespace stormcell {

/// Pixels of the longer side.
inline constexpr int64_t kThumbnailSide = 96;
/// What a run keeps at most: pictures, bytes of all of them together. Demos, which keep some unasked, stop at fewer
/// bytes.
inline constexpr int64_t kMostThumbnails = 4096, kMostThumbnailBytes = int64_t{64} << 20,
                         kUnaskedThumbnailBytes = int64_t{4} << 20;

struct Thumbnail {
  PictureSize size;             ///< of the thumbnail; 0x0: there is none
  int64_t channels = 0;         ///< 1 grey, 3 colours
  std::vector<uint8_t> pixels;  ///< [height, width, channels], rows from the top; 0 to 255
  bool empty() const { return pixels.empty(); }
  bool operator==(const Thumbnail&) const = default;
};

/// Of a picture of `size` the longer side is kThumbnailSide at most, the other in proportion, at least 1; never larger
/// than it was.
PictureSize thumbnail_size(PictureSize size);
/// Bytes of what thumbnail_of() gives of such pixels: 0 where it gives nothing.
int64_t thumbnail_bytes(PictureSize size, int64_t channels);
/// Each pixel is the mean of those that it stands for. `pixels`: [height, width, channels] from 0 to 1; beyond that
/// they are black or white. Empty for other channels than grey or colours: what they mean is not known.
Thumbnail thumbnail_of(std::span<const float> pixels, PictureSize size, int64_t channels);

}  // namespace stormcell
