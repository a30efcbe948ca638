#include "core/formats/png.h"

#include "core/base/error.h"

#ifdef STORMCELL_WITH_PNG
#include <png.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#endif

namespace stormcell {

bool begins_as_png(std::string_view head) { return head.starts_with("\x89PNG\r\n\x1a\n"); }

#ifdef STORMCELL_WITH_PNG
namespace {

/// One reading of one file. libpng ends a failed call by longjmp to the frame of attempt(): nothing between has a
/// destructor.
class PngReading {
 public:
  explicit PngReading(std::span<const std::byte> file) : left_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &PngReading::fail, &PngReading::pass_over);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (info_) png_set_read_fn(png_, this, &PngReading::give);
  }
  ~PngReading() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReading(const PngReading&) = delete;
  PngReading& operator=(const PngReading&) = delete;

  /// False where libpng ended it: reason() says why.
  template <class Step>
  bool attempt(Step step) {
    if (!info_) return false;
    if (setjmp(png_jmpbuf(png_))) return false;
    step(png_, info_);
    return true;
  }
  /// Throws what reason() says.
  [[noreturn]] void refuse(const std::string& where) const {
    bad_input(where, early_ ? "is truncated" : "is not a whole PNG: " + std::string(reason_.data()),
              "get the file again");
  }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReading*>(png_get_error_ptr(png));
    std::snprintf(self->reason_.data(), self->reason_.size(), "%s", message);
    for (char& c : self->reason_)
      if (c != '\0' && (c < ' ' || c > '~')) c = '?';  // the name of a chunk may be any bytes
    png_longjmp(png, 1);
  }
  static void pass_over(png_structp, png_const_charp) {}
  static void give(png_structp png, png_bytep to, size_t count) {
    auto* self = static_cast<PngReading*>(png_get_io_ptr(png));
    if (count > self->left_.size()) {
      self->early_ = true;
      png_error(png, "ends early");
    }
    std::memcpy(to, self->left_.data(), count);
    self->left_ = self->left_.subspan(count);
  }

  std::span<const std::byte> left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool early_ = false;
  std::array<char, 128> reason_{"libpng cannot be started"};
};

/// Form of the decoded pixels: 8 or 16 bits a channel, 1 to 4 channels.
struct PngForm {
  PictureHeader header;
  int bits = 8;
  size_t stored_row = 0, row = 0;  ///< bytes of a row before and after its bits are widened
};

/// Skips every chunk that does not affect pixels: a few bytes of a text or a profile inflate to megabytes each, a
/// thousand of them to gigabytes.
void pass_over_words(png_structp png) { png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1); }

/// Reads up to the pixels. It checks the stated size first, and the bytes that it requires, before libpng takes memory
/// for a row.
PngForm read_form(PngReading& reading, std::span<const std::byte> file, const std::string& where) {
  constexpr size_t kWidth = 16;  // IHDR follows the signature: length, name, width, height
  const auto number = [&](size_t at) {
    int64_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | (at + i < file.size() ? std::to_integer<int64_t>(file[at + i]) : 0);
    return value;
  };
  if (file.size() < kWidth + 8) bad_input(where, "is truncated", "get the file again");
  check_picture_size(where, number(kWidth + 4), number(kWidth));
  PngForm form;
  const bool whole = reading.attempt([&form](png_structp png, png_infop info) {
    png_set_user_limits(png, static_cast<png_uint_32>(kMostPixels), static_cast<png_uint_32>(kMostPixels));
    pass_over_words(png);
    png_read_info(png, info);
    form.header = {png_get_image_height(png, info), png_get_image_width(png, info), png_get_channels(png, info)};
    form.stored_row = png_get_rowbytes(png, info);
  });
  if (!whole) reading.refuse(where);
  // Deflate makes at most 1,032 bytes of one: a header that asks for more has no pixels behind it.
  constexpr int64_t kMostDeflated = 1032;
  check_picture_bytes(where, form.header, file.size(),
                      form.header.height * static_cast<int64_t>(form.stored_row + 1) / kMostDeflated);
  const bool widened = reading.attempt([&form](png_structp png, png_infop info) {
    const int kind = png_get_color_type(png, info);
    if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (kind == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(png);
    if (std::endian::native == std::endian::little && png_get_bit_depth(png, info) == 16) png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    form.header.channels = png_get_channels(png, info);
    form.bits = png_get_bit_depth(png, info);
    form.row = png_get_rowbytes(png, info);
  });
  if (!widened) reading.refuse(where);
  return form;
}

template <class Value>
std::vector<float> reals_of(const std::vector<std::byte>& bytes, float most) {
  std::vector<float> reals(bytes.size() / sizeof(Value));
  for (size_t i = 0; i < reals.size(); ++i) {
    Value value;
    std::memcpy(&value, bytes.data() + i * sizeof(Value), sizeof value);
    reals[i] = static_cast<float>(value) / most;
  }
  return reals;
}

std::vector<float> decode_png(std::span<const std::byte> file, const std::string& where) {
  PngReading reading(file);
  const PngForm form = read_form(reading, file, where);
  std::vector<std::byte> bytes(form.header.height * form.row);
  std::vector<png_bytep> rows(form.header.height);
  for (size_t r = 0; r < rows.size(); ++r) rows[r] = reinterpret_cast<png_bytep>(bytes.data() + r * form.row);
  const bool whole = reading.attempt([&rows](png_structp png, png_infop) {
    png_read_image(png, rows.data());
    png_read_end(png, nullptr);
  });
  if (!whole) reading.refuse(where);
  return form.bits == 16 ? reals_of<uint16_t>(bytes, 65535.0F) : reals_of<uint8_t>(bytes, 255.0F);
}

}  // namespace

PictureFile open_png(const std::string& path) {
  const auto bytes = read_encoded(path);
  PngReading reading(*bytes);
  return {.header = read_form(reading, *bytes, path).header,
          .decode = [bytes, path] { return decode_png(*bytes, path); }};
}
#else
PictureFile open_png(const std::string& path) {
  bad_input(path, "is a PNG, which this build cannot read: it was made without libpng",
            "install libpng-dev and build again, or convert it to PPM");
}
#endif

}  // namespace stormcell
