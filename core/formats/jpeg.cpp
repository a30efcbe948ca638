#include "core/formats/jpeg.h"

#include "core/base/error.h"

#ifdef STORMCELL_WITH_JPEG
#include <csetjmp>
#include <cstdio>
// After <cstdio>, whose FILE they use.
#include <jpeglib.h>
// After <jpeglib.h>: the numbers of its messages.
#include <jerror.h>

#include <algorithm>
#include <array>

#include "core/formats/exif.h"
#endif

namespace stormcell {

bool begins_as_jpeg(std::string_view head) { return head.starts_with("\xff\xd8\xff"); }

#ifdef STORMCELL_WITH_JPEG
namespace {

/// Damage that libjpeg repairs with invented pixels. It is an error here.
bool is_damage(int message) {
  constexpr std::array kDamage{JWRN_ARITH_BAD_CODE, JWRN_BOGUS_PROGRESSION, JWRN_HIT_MARKER,     JWRN_HUFF_BAD_CODE,
                               JWRN_JPEG_EOF,       JWRN_MUST_RESYNC,       JWRN_NOT_SEQUENTIAL, JWRN_TOO_MUCH_DATA};
  return std::find(kDamage.begin(), kDamage.end(), message) != kDamage.end();
}

/// One reading of one file. libjpeg ends a failed call by longjmp to the frame of attempt(): nothing between has a
/// destructor.
class JpegReading {
 public:
  explicit JpegReading(std::span<const std::byte> file) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = &JpegReading::fail;
    errors_.emit_message = &JpegReading::look_at;
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = &JpegReading::count_scans;
    started_ = attempt([file](jpeg_decompress_struct& jpeg) {
      jpeg_create_decompress(&jpeg);
      jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
    });
    jpeg_.progress = &progress_;
  }
  ~JpegReading() { jpeg_destroy_decompress(&jpeg_); }
  JpegReading(const JpegReading&) = delete;
  JpegReading& operator=(const JpegReading&) = delete;

  bool started() const { return started_; }
  jpeg_decompress_struct& jpeg() { return jpeg_; }
  /// False where libjpeg ended it.
  template <class Step>
  bool attempt(Step step) {
    if (setjmp(back_)) return false;
    step(jpeg_);
    return true;
  }
  [[noreturn]] void refuse(const std::string& where) const {
    if (last_ == JWRN_JPEG_EOF || last_ == JERR_INPUT_EOF) bad_input(where, "is truncated", "get the file again");
    bad_input(where, "is not a whole JPEG: " + std::string(reason_.data()), "get the file again, or convert it");
  }

 private:
  [[noreturn]] static void fail(j_common_ptr jpeg) {
    auto* self = static_cast<JpegReading*>(jpeg->client_data);
    self->last_ = jpeg->err->msg_code;
    jpeg->err->format_message(jpeg, self->reason_.data());
    longjmp(self->back_, 1);
  }
  static void look_at(j_common_ptr jpeg, int level) {
    if (level < 0 && is_damage(jpeg->err->msg_code)) fail(jpeg);
  }
  /// Each scan of a progressive picture goes over all of it: a small file of many scans would take hours.
  static void count_scans(j_common_ptr common) {
    constexpr int kMostScans = 500;
    auto* self = static_cast<JpegReading*>(common->client_data);
    if (!common->is_decompressor || self->jpeg_.input_scan_number <= kMostScans) return;
    std::snprintf(self->reason_.data(), self->reason_.size(), "it has more than %d scans", kMostScans);
    self->last_ = 0;
    longjmp(self->back_, 1);
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf back_{};
  std::array<char, JMSG_LENGTH_MAX> reason_{};
  int last_ = 0;
  bool started_ = false;
};

/// The first bytes of the second application segment in a file of several pictures.
constexpr std::string_view kMpf("MPF\0", 4);

struct JpegForm {
  PictureHeader stored, shown;
  Orientation orientation = Orientation::as_stored;
};

Orientation orientation_of(const jpeg_decompress_struct& jpeg) {
  static constexpr std::string_view kExif("Exif\0\0", 6);
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker; marker = marker->next) {
    const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == JPEG_APP0 + 1 && text.starts_with(kExif))
      return orientation_in(std::as_bytes(std::span(text.substr(kExif.size()))));
  }
  return Orientation::as_stored;
}

/// Refuses frames of a video in one file: only the first would be read. A file that declares further pictures beside
/// the shown one (MPF: a map of gains, a preview) counts as one picture.
void check_one_picture(const jpeg_decompress_struct& jpeg, const std::string& where) {
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker; marker = marker->next) {
    const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == JPEG_APP0 + 2 && text == kMpf) return;
  }
  // Behind the header, coded data never contain the bytes FF D9: they are the end of a picture.
  const std::string_view rest(reinterpret_cast<const char*>(jpeg.src->next_input_byte), jpeg.src->bytes_in_buffer);
  if (rest.find("\xff\xd9\xff\xd8\xff") != std::string_view::npos)
    bad_input(where, "holds several JPEG pictures one after the other",
              "split it into a file for each, or put them into a video: ffmpeg -i FILE -c copy FILE.avi");
}

JpegForm read_form(JpegReading& reading, size_t bytes, const std::string& where) {
  const bool whole = reading.started() && reading.attempt([](jpeg_decompress_struct& jpeg) {
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(&jpeg, JPEG_APP0 + 2, kMpf.size());
    jpeg_read_header(&jpeg, TRUE);
  });
  if (!whole) reading.refuse(where);
  jpeg_decompress_struct& jpeg = reading.jpeg();
  if (jpeg.num_components == 4) bad_input(where, "is a JPEG for printing, in CMYK", "convert it to RGB");
  if (jpeg.num_components != 1 && jpeg.num_components != 3)
    bad_input(where, "is a JPEG of " + std::to_string(jpeg.num_components) + " channels", "convert it to RGB or grey");
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  JpegForm form;
  form.stored = {jpeg.image_height, jpeg.image_width, jpeg.num_components};
  check_picture_size(where, form.stored.height, form.stored.width);
  // Huffman's codes have at least a bit for each block of 8 x 8, in the first scan of the largest channel.
  constexpr int64_t kMostPixelsOfByte = 8 * 64;
  if (!jpeg.arith_code)
    check_picture_bytes(where, form.stored, bytes, form.stored.height * form.stored.width / kMostPixelsOfByte);
  form.shown = form.stored;
  form.orientation = orientation_of(jpeg);
  if (swaps_sides(form.orientation)) std::swap(form.shown.height, form.shown.width);
  return form;
}

std::vector<float> decode_jpeg(std::span<const std::byte> file, const std::string& where) {
  JpegReading reading(file);
  const JpegForm form = read_form(reading, file.size(), where);
  const size_t row = form.stored.width * form.stored.channels;
  std::vector<uint8_t> bytes(form.stored.height * row);
  const bool whole = reading.attempt([&bytes, row](jpeg_decompress_struct& jpeg) {
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW to = bytes.data() + jpeg.output_scanline * row;
      jpeg_read_scanlines(&jpeg, &to, 1);
    }
    jpeg_finish_decompress(&jpeg);
  });
  if (!whole) reading.refuse(where);
  std::vector<float> pixels(bytes.size());
  std::transform(bytes.begin(), bytes.end(), pixels.begin(), [](uint8_t b) { return static_cast<float>(b) / 255.0F; });
  bytes = {};
  return turned(std::move(pixels), form.stored.height, form.stored.width, form.stored.channels, form.orientation);
}

}  // namespace

PictureFile open_jpeg(const std::string& path) {
  const auto bytes = read_encoded(path);
  JpegReading reading(*bytes);
  const JpegForm form = read_form(reading, bytes->size(), path);
  check_one_picture(reading.jpeg(), path);
  return {.header = form.shown, .decode = [bytes, path] { return decode_jpeg(*bytes, path); }};
}
#else
PictureFile open_jpeg(const std::string& path) {
  bad_input(path, "is a JPEG, and this build reads none: libjpeg was not there when it was made",
            "install libjpeg62-turbo-dev and build again, or convert it to PPM");
}
#endif

}  // namespace stormcell
