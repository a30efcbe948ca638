#include "core/cell/picture_size.h"

#include <charconv>

namespace stormcell {
namespace {

/// Parses a number from 1 to 2^20; 0: `text` is none.
int64_t side_of(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t side = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, side);
  return error == std::errc() && read == end && side >= 1 && side <= kMost ? side : 0;
}

}  // namespace

std::strong_ordering PictureSize::operator<=>(const PictureSize& other) const {
  const auto by_pixels = pixels() <=> other.pixels();
  return by_pixels != 0 ? by_pixels : height <=> other.height;
}

std::string to_text(PictureSize size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

std::optional<PictureSize> parse_picture_size(std::string_view text) {
  const size_t between = text.find('x');
  if (between == std::string_view::npos) return {};
  const PictureSize size{side_of(text.substr(0, between)), side_of(text.substr(between + 1))};
  if (size.height == 0 || size.width == 0) return {};
  return size;
}

bool PictureSizes::take(PictureSize size) const {
  return size.height >= least && size.height <= most && size.width >= least && size.width <= most;
}

std::string to_text(const PictureSizes& sizes) {
  return "heights and widths of " + std::to_string(sizes.least) + " to " + std::to_string(sizes.most) + " pixels";
}

}  // namespace stormcell
