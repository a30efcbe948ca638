#include "core/data/picture_form.h"

#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

std::string shape_of(PictureSize size, int64_t channels) {
  return "[" + std::to_string(size.height) + ", " + std::to_string(size.width) + ", " + std::to_string(channels) + "]";
}

struct Extremes {
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  bool finite = true;

  void add(std::span<const std::byte> bytes) {
    constexpr uint32_t kExponent = 0x7f800000;  // all ones: infinite, or no number
    uint32_t broken = 0;
    float low = least, high = most;
    for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + i, sizeof bits);  // need not be aligned
      broken |= static_cast<uint32_t>((bits & kExponent) == kExponent);
      const auto pixel = std::bit_cast<float>(bits);
      low = pixel < low ? pixel : low;
      high = pixel > high ? pixel : high;
    }
    least = low, most = high;
    finite = finite && broken == 0;
  }
};

}  // namespace

PictureForm::PictureForm(const InputSpec& pixels)
    : size{pixels.content.at(0), pixels.content.at(1)}, channels(pixels.content.at(2)), sizes(pixels.sizes) {}

bool PictureForm::takes(PictureSize came, int64_t came_channels) const {
  return came_channels == channels && (sizes ? sizes->take(came) : came == size);
}

std::string PictureForm::to_text() const {
  return sizes ? "[height, width, " + std::to_string(channels) + "], " + stormcell::to_text(*sizes)
               : shape_of(size, channels);
}

void PictureForm::check(const std::string& where, const std::string& what, PictureSize came,
                        int64_t came_channels) const {
  if (takes(came, came_channels)) return;
  const std::string text = what + " " + shape_of(came, came_channels) + ", the model takes " + to_text();
  if (came_channels != channels)
    bad_input(where, text, "give pictures with " + counted(channels, "channel") + " in the last place");
  bad_input(where, text,
            sizes ? "resize what does not fit" : "resize them to [height, width, channels] as the model has them");
}

void PictureForm::check(const std::string& where, const PictureFile& file) const {
  const bool fits = !file.is_array && fits_channels(file.header.channels, channels);
  // Colours are never averaged silently: there are several ways to make grey of them.
  if (!file.is_array && !fits && channels == 1)
    bad_input(where,
              "is a colour picture" + std::string(file.header.channels == 4 ? " with opacity" : "") +
                  ", the model takes grey ones of 1 channel",
              "convert it to grey");
  check(where, "is a picture of", {file.header.height, file.header.width}, fits ? channels : file.header.channels);
}

void check_batch_of_pictures(int64_t items, PictureSize size, int64_t channels) {
  constexpr double kMostValues = 2147483648.0;
  const double values = static_cast<double>(items) * size.height * size.width;
  if (values * static_cast<double>(channels) <= kMostValues) return;
  bad_input("--batch", "a batch of " + counted(items, "picture") + " of " + shape_of(size, channels) + " is too large",
            "choose a smaller --batch");
}

void expect_pixels(const std::string& where, const std::string& name, DType type) {
  if (type != DType::u8 && type != DType::f32)
    bad_input(where, name + " holds " + std::string(stormcell::to_text(type)), kPixelsForm);
}

std::vector<float> sampled(const std::vector<float>& values) {
  std::vector<float> some;
  visit_sampled(std::ssize(values), [&](int64_t first, int64_t count) {
    some.insert(some.end(), values.begin() + first, values.begin() + first + count);
  });
  return some;
}

Sequence outline_of(const std::string& where, const std::string& place, PictureSize size, DType type,
                    const FileRange& bytes) {
  Sequence item{.picture = size};
  const size_t element = element_size(type);
  visit_sampled(static_cast<int64_t>(bytes.size() / element), [&](int64_t first, int64_t count) {
    const std::vector<float> run =
        pixels_of(type, bytes.part(static_cast<size_t>(first) * element, static_cast<size_t>(count) * element));
    item.pixels.insert(item.pixels.end(), run.begin(), run.end());
  });
  if (type != DType::f32) return item;
  Extremes e;
  bytes.visit_pieces([&](std::span<const std::byte> piece) { e.add(piece); });
  if (!e.finite) bad_input(where, place + " holds pixels that are not finite", "give numbers");
  item.darkest = e.least, item.brightest = e.most;
  return item;
}

std::vector<float> pixels_of(DType type, const FileRange& bytes) {
  std::vector<float> pixels(bytes.size() / element_size(type));
  if (type == DType::f32) {
    bytes.read(0, std::as_writable_bytes(std::span(pixels)));
    return pixels;
  }
  size_t at = 0;
  bytes.visit_pieces([&](std::span<const std::byte> piece) {
    for (const std::byte byte : piece) pixels[at++] = static_cast<float>(std::to_integer<int>(byte)) / 255.0F;
  });
  return pixels;
}

}  // namespace stormcell
