// Heights and widths of pictures, and which of them a model takes.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stormcell {

/// Size in pixels. 0 x 0: there is no picture.
struct PictureSize {
  int64_t height = 0, width = 0;
  int64_t pixels() const { return height * width; }
  bool operator==(const PictureSize&) const = default;
  /// Orders by pixels, then by height.
  std::strong_ordering operator<=>(const PictureSize& other) const;
};
/// "48x64": height, then width.
std::string to_text(PictureSize size);
/// Parses "48x64". Empty if the text has another form, or a side is below 1 or beyond 2^20.
std::optional<PictureSize> parse_picture_size(std::string_view text);

/// The sizes that a model takes: each side for itself.
struct PictureSizes {
  int64_t least = 1, most = 1;  ///< of height and width, both included
  bool take(PictureSize size) const;
  bool operator==(const PictureSizes&) const = default;
};
/// "heights and widths of 16 to 4096 pixels".
std::string to_text(const PictureSizes& sizes);

}  // namespace stormcell
