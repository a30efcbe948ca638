// PNG and JPEG files to test with, made when a test asks for them; where a library is absent, nothing makes them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell::testing {

/// As PNG has them: which channels, bits of each, in seven passes or row by row.
struct PngToWrite {
  enum class Kind : uint8_t { grey, colours, palette, grey_and_opacity, colours_and_opacity };
  int64_t height = 1, width = 1;
  Kind kind = Kind::colours;
  int bits = 8;
  bool interlaced = false;
  std::vector<uint16_t> samples;      ///< [height, width, channels]; of a palette: entries
  std::vector<uint8_t> palette;       ///< three a colour
  std::vector<uint8_t> opacity;       ///< by entry of the palette, as far as it goes
  std::vector<uint16_t> transparent;  ///< the grey or the colour that is clear; empty: none
  int texts = 0;                      ///< beside the pixels, each of 7 MB, which take a few kilobytes of the file
};
/// Empty where the build has no libpng.
std::string png_of(const PngToWrite& picture);

struct JpegToWrite {
  int64_t height = 8, width = 8;
  int channels = 3;  ///< 1 grey, 3 colours, 4 CMYK
  bool progressive = false;
  int quality = 100;
  std::string exif;            ///< the TIFF behind "Exif\0\0"; empty: none
  std::vector<uint8_t> bytes;  ///< [height, width, channels]
};
/// Colours are kept at full resolution. Empty where the build has no libjpeg.
std::string jpeg_of(const JpegToWrite& picture);

/// A TIFF that says the orientation and nothing else, in the byte order of "II" or "MM".
std::string tiff_of_orientation(int orientation, bool big_endian = false);

}  // namespace stormcell::testing
