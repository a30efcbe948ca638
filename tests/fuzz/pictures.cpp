#include "core/formats/picture_formats.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

/// Every pixel can be read, and of pictures each is from 0 to 1.
void use(const PictureFile& file) {
  const PictureHeader& header = file.header;
  const auto values = static_cast<size_t>(header.height * header.width * header.channels);
  if (!file.decode) {
    fuzz::require(file.stored.size() == values * element_size(file.type), "the pixels lie in the file");
    unsigned sum = 0;
    file.stored.visit_pieces([&](std::span<const std::byte> piece) {
      for (const std::byte byte : piece) sum += std::to_integer<unsigned>(byte);
    });
    fuzz::require(sum <= 255u * file.stored.size(), "every byte can be read");
    return;
  }
  fuzz::require(header.channels >= 1 && header.channels <= 4 && header.height * header.width <= kMostPixels,
                "the header is checked");
  std::vector<float> pixels = file.decode();
  fuzz::require(pixels.size() == values, "there are as many pixels as the header says");
  for (const float pixel : pixels) fuzz::require(pixel >= 0 && pixel <= 1, "a pixel is from 0 to 1");
  if (!fits_channels(header.channels, 3)) return;
  fuzz::require(in_channels(std::move(pixels), header.channels, 3, "input").size() ==
                    values / static_cast<size_t>(header.channels) * 3,
                "three channels a pixel");
}

}  // namespace

STORMCELL_FUZZ_TARGET(pictures) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] { use(open_picture(file.holding(data, size))); });
  return 0;
}
