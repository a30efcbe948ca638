#include "core/formats/picture_file.h"

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {
namespace {

/// Drops the last of `came` channels, which says how opaque a pixel is.
std::vector<float> without_opacity(const std::vector<float>& pixels, size_t came, const std::string& where) {
  std::vector<float> kept;
  kept.reserve(pixels.size() / came * (came - 1));
  size_t clear = 0;
  for (size_t at = 0; at < pixels.size(); at += came) {
    kept.insert(kept.end(), pixels.begin() + at, pixels.begin() + (at + came - 1));
    clear += pixels[at + came - 1] != 1.0F;
  }
  if (clear > 0)
    bad_input(
        where,
        counted(static_cast<int64_t>(clear), "pixel") + " of it can be seen through, and nothing says what is behind",
        "lay it on a background first");
  return kept;
}

}  // namespace

std::string size_text(int64_t height, int64_t width) { return std::to_string(height) + " x " + std::to_string(width); }

void check_picture_size(const std::string& where, int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    bad_input(where, "is a picture of " + size_text(height, width) + " pixels", "give pictures with pixels");
  if (height > kMostPixels || width > kMostPixels || height * width > kMostPixels)
    bad_input(where,
              "is a picture of " + size_text(height, width) + " pixels, this version reads at most " +
                  with_commas(kMostPixels),
              "resize it, or cut it into parts");
}

void check_picture_bytes(const std::string& where, const PictureHeader& header, size_t bytes, int64_t least) {
  if (static_cast<int64_t>(bytes) >= least) return;
  bad_input(where,
            "is truncated: its " + counted(static_cast<int64_t>(bytes), "byte") + " cannot hold " +
                size_text(header.height, header.width) + " pixels",
            "get the file again");
}

std::shared_ptr<const std::vector<std::byte>> read_encoded(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const FileRange file = FileRange::whole(path);
  if (file.size() == 0) bad_input(path, "is empty", "get the file again");
  if (file.size() > kMostBytes) bad_input(path, "has more than 1 GiB", "give smaller pictures");
  auto bytes = std::make_shared<std::vector<std::byte>>(file.size());
  file.read(0, *bytes);
  return bytes;
}

bool fits_channels(int64_t came, int64_t channels) {
  if (came == channels) return true;
  const bool opacity = came == 2 || came == 4, grey = came == 1 || came == 2;
  return (opacity && came - 1 == channels) || (grey && channels == 3);
}

std::vector<float> in_channels(std::vector<float> pixels, int64_t came, int64_t channels, const std::string& where) {
  if (came == channels) return pixels;
  if (came == 2 || came == 4) {
    pixels = without_opacity(pixels, static_cast<size_t>(came), where);
    if (came - 1 == channels) return pixels;
  }
  std::vector<float> repeated;
  repeated.reserve(pixels.size() * 3);
  for (const float grey : pixels) repeated.insert(repeated.end(), 3, grey);
  return repeated;
}

}  // namespace stormcell
