// The result of every reader of pictures, and the largest size of a picture.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/file_range.h"

namespace stormcell {

/// Extents of the picture as it is shown: turned if its file says so.
struct PictureHeader {
  int64_t height = 0, width = 0;
  int64_t channels = 0;  ///< 1 grey, 2 grey and opacity, 3 colours, 4 colours and opacity; of an array any number
  bool operator==(const PictureHeader&) const = default;
};

/// A picture whose header was checked. Rows from the top, channels last; pixels from 0 to 1.
struct PictureFile {
  PictureHeader header;
  /// its channels are numbers that mean nothing to this program: never joined, repeated or left out
  bool is_array = false;
  /// Format of pixels that the file stores unpacked: u8 (0 to 255 are 0 to 1), in arrays also f32.
  DType type = DType::u8;
  FileRange stored;
  /// Decodes packed pixels to [height, width, channels]. Error(bad_input): the file is damaged or ends early.
  std::function<std::vector<float>()> decode;
};

/// 8192 x 8192. More is refused before memory is taken: a few bytes of a header may ask for any amount.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

/// Error(bad_input) that names `where`: no pixel at all, or more than kMostPixels.
void check_picture_size(const std::string& where, int64_t height, int64_t width);
/// Error(bad_input): a file of `bytes` bytes is too small for a picture that takes at least `least` of them, however
/// well it is compressed.
void check_picture_bytes(const std::string& where, const PictureHeader& header, size_t bytes, int64_t least);

/// "480 x 640", height first as everywhere.
std::string size_text(int64_t height, int64_t width);

/// A whole encoded picture in memory. Error(bad_input): empty, or of more than 1 GiB.
std::shared_ptr<const std::vector<std::byte>> read_encoded(const std::string& path);

/// The pixels with the channels that a model takes. Grey becomes three equal channels; full opacity is left out.
/// Error(bad_input) that names `where`: transparent pixels, whose colour depends on the background. `channels`: one
/// that fits_channels() names.
std::vector<float> in_channels(std::vector<float> pixels, int64_t came, int64_t channels, const std::string& where);
bool fits_channels(int64_t came, int64_t channels);

}  // namespace stormcell
