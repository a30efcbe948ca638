#include "tests/testing/picture_files.h"

#include <cstdio>
#include <cstdlib>

#ifdef STORMCELL_WITH_PNG
#include <png.h>
#endif
#ifdef STORMCELL_WITH_JPEG
#include <jpeglib.h>
#endif

namespace stormcell::testing {

#ifdef STORMCELL_WITH_PNG
namespace {

int color_type(PngToWrite::Kind kind) {
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_GRAY_ALPHA,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  return kTypes[static_cast<size_t>(kind)];
}

/// The samples of a row as PNG packs them: the first in the highest bits, the higher byte first.
std::vector<uint8_t> packed(const uint16_t* samples, size_t count, int bits) {
  std::vector<uint8_t> bytes((count * static_cast<size_t>(bits) + 7) / 8);
  for (size_t i = 0; i < count; ++i) {
    const size_t bit = i * static_cast<size_t>(bits);
    if (bits == 16)
      bytes[2 * i] = static_cast<uint8_t>(samples[i] >> 8), bytes[2 * i + 1] = static_cast<uint8_t>(samples[i]);
    else
      bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | samples[i] << (8 - bits - static_cast<int>(bit % 8)));
  }
  return bytes;
}

void write_colours(png_structp png, png_infop info, const PngToWrite& picture) {
  if (!picture.palette.empty())
    png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(picture.palette.data()),
                 static_cast<int>(picture.palette.size() / 3));
  if (!picture.opacity.empty())
    png_set_tRNS(png, info, picture.opacity.data(), static_cast<int>(picture.opacity.size()), nullptr);
  if (picture.transparent.empty()) return;
  png_color_16 clear{};
  clear.gray = picture.transparent[0];
  if (picture.transparent.size() == 3)
    clear.red = picture.transparent[0], clear.green = picture.transparent[1], clear.blue = picture.transparent[2];
  png_set_tRNS(png, info, nullptr, 0, &clear);
}

}  // namespace

std::string png_of(const PngToWrite& picture) {
  std::string file;
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr, [](png_structp, png_const_charp) { std::abort(); }, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep bytes, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bits, color_type(picture.kind), picture.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  write_colours(png, info, picture);
  std::string words(7'000'000, 'a'), key = "Comment";
  png_text text{};
  text.compression = PNG_TEXT_COMPRESSION_zTXt, text.key = key.data(), text.text = words.data(),
  text.text_length = words.size();
  for (int i = 0; i < picture.texts; ++i) png_set_text(png, info, &text, 1);
  png_write_info(png, info);
  const size_t in_row = picture.samples.size() / static_cast<size_t>(picture.height);
  std::vector<std::vector<uint8_t>> rows;
  for (size_t r = 0; r < static_cast<size_t>(picture.height); ++r)
    rows.push_back(packed(picture.samples.data() + r * in_row, in_row, picture.bits));
  std::vector<png_bytep> pointers;
  for (auto& row : rows) pointers.push_back(row.data());
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}
#else
std::string png_of(const PngToWrite&) { return {}; }
#endif

#ifdef STORMCELL_WITH_JPEG
std::string jpeg_of(const JpegToWrite& picture) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height),
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.input_components = picture.channels;
  jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : picture.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, picture.quality, TRUE);
  for (int c = 0; c < jpeg.num_components; ++c) jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  if (picture.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  const std::string exif = std::string("Exif\0\0", 6) + picture.exif;
  if (!picture.exif.empty())
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                      static_cast<unsigned>(exif.size()));
  std::vector<uint8_t> pixels = picture.bytes;
  const auto row = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW from = pixels.data() + jpeg.next_scanline * row;
    jpeg_write_scanlines(&jpeg, &from, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  jpeg_destroy_compress(&jpeg);
  return file;
}
#else
std::string jpeg_of(const JpegToWrite&) { return {}; }
#endif

std::string tiff_of_orientation(int orientation, bool big_endian) {
  std::string tiff = big_endian ? "MM" : "II";
  const auto number = [&](uint32_t value, int count) {
    for (int i = 0; i < count; ++i) tiff += static_cast<char>(value >> 8 * (big_endian ? count - 1 - i : i));
  };
  constexpr uint32_t kWidthTag = 0x100, kOrientationTag = 0x112, kShort = 3;
  number(42, 2), number(8, 4);  // the directory follows the header
  number(2, 2);
  number(kWidthTag, 2), number(kShort, 2), number(1, 4), number(7, 2), number(0, 2);
  number(kOrientationTag, 2), number(kShort, 2), number(1, 4), number(static_cast<uint32_t>(orientation), 2),
      number(0, 2);
  number(0, 4);
  return tiff;
}

}  // namespace stormcell::testing
