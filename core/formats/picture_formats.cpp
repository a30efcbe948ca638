#include "core/formats/picture_formats.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/jpeg.h"
#include "core/formats/netpbm.h"
#include "core/formats/npy.h"
#include "core/formats/open_file.h"
#include "core/formats/png.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

PictureFile open_npy_picture(const std::string& path) {
  const NpyArray array = open_npy(path);
  constexpr const char* kForm = "give u8 from 0 to 255, or f32 from 0 to 1, as [height, width, channels]";
  if (array.dtype != DType::u8 && array.dtype != DType::f32)
    bad_input(path, "the array holds " + std::string(to_text(array.dtype)), kForm);
  if (array.shape.size() != 3) bad_input(path, "the array has the shape " + shape_text(array.shape), kForm);
  return {{array.shape[0], array.shape[1], array.shape[2]}, true, array.dtype, array.bytes, {}};
}

PictureFile open_netpbm_picture(const std::string& path) {
  const NetpbmPicture picture = open_netpbm(path);
  check_picture_size(path, picture.height, picture.width);
  return {{picture.height, picture.width, picture.channels}, false, DType::u8, picture.bytes, {}};
}

#ifdef STORMCELL_WITH_PNG
constexpr std::string_view kPngLacked;
#else
constexpr std::string_view kPngLacked = "libpng-dev";
#endif
#ifdef STORMCELL_WITH_JPEG
constexpr std::string_view kJpegLacked;
#else
constexpr std::string_view kJpegLacked = "libjpeg62-turbo-dev";
#endif

constexpr std::array kFormats{
    PictureFormat{"PNG", kPngLacked, begins_as_png, open_png},
    PictureFormat{"JPEG", kJpegLacked, begins_as_jpeg, open_jpeg},
    PictureFormat{"PPM", {}, [](std::string_view head) { return head.starts_with("P6"); }, open_netpbm_picture},
    PictureFormat{"PGM", {}, [](std::string_view head) { return head.starts_with("P5"); }, open_netpbm_picture},
    PictureFormat{".npy", {}, [](std::string_view head) { return head.starts_with("\x93NUMPY"); }, open_npy_picture},
};

/// The first bytes of a file, enough to recognise its format.
std::string head_of(const std::string& path) {
  constexpr size_t kMostHead = 16;
  const OpenFile file = OpenFile::open_regular(path);
  std::string head(std::min(kMostHead, file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(head)));
  return head;
}

const PictureFormat* format_beginning(std::string_view head) {
  const auto at =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const PictureFormat& f) { return f.begins(head); });
  return at == kFormats.end() ? nullptr : &*at;
}

}  // namespace

std::span<const PictureFormat> picture_formats() { return kFormats; }

std::string picture_format_names() {
  std::string list;
  for (const PictureFormat& format : kFormats)
    if (format.lacked.empty()) add_to_list(list, format.name);
  return list;
}

bool is_picture(const std::string& path) {
  try {
    return format_beginning(head_of(path)) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

PictureFile open_picture(const std::string& path) {
  const std::string head = head_of(path);
  const PictureFormat* format = format_beginning(head);
  if (!format) refuse_other_kind(path, FileUse::picture);
  if (!format) bad_input(path, "is not a picture that this version reads", "it reads " + picture_format_names());
  return format->open(path);
}

}  // namespace stormcell
