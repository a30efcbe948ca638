// Which pictures a model takes, asked of whatever they are read from.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/cell/input_spec.h"

namespace stormcell {

/// [height, width, channels] that an input of the role pixels takes.
struct PictureForm {
  explicit PictureForm(const InputSpec& pixels);
  PictureSize size;                   ///< that the model states
  int64_t channels = 0;               ///< always these
  std::optional<PictureSizes> sizes;  ///< others that fit too; none: no others

  bool takes(PictureSize came, int64_t came_channels) const;
  /// Throws Error(bad_input) naming `where` with `what` ("picture.npy holds a picture of"), what came and what fits.
  void check(const std::string& where, const std::string& what, PictureSize came, int64_t came_channels) const;
  /// "[64, 64, 3]", or "[height, width, 3], heights and widths of 16 to 8192 pixels".
  std::string to_text() const;
};

/// Throws Error(bad_input) where a batch of so many pictures has more than 2^31 values: it could not be run.
void check_batch_of_pictures(int64_t items, PictureSize size, int64_t channels);

/// Pixels from the bytes of an array: u8 become 0 to 1, f32 stay. Error(bad_input) naming `where` and the array for other formats.
void expect_pixels(const std::string& where, const std::string& name, DType type);
std::vector<float> pixels_of(DType type, std::span<const std::byte> bytes);
/// What such arrays have to be like, for errors.
inline constexpr const char* kPixelsForm = "give u8 from 0 to 255, or f32, as [items, height, width, channels]";

}  // namespace stormcell
