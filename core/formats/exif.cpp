#include "core/formats/exif.h"

#include <algorithm>
#include <utility>

namespace stormcell {
namespace {

/// Numbers of a TIFF, in either byte order; bytes beyond the end are 0.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes), big_endian_(byte(0) == 'M') {}
  bool is_whole() const {
    constexpr uint32_t kVersion = 42;
    return byte(0) == byte(1) && (byte(0) == 'M' || byte(0) == 'I') && number(2, 2) == kVersion;
  }
  /// Reads a number of 2 or 4 bytes.
  uint32_t number(size_t at, size_t count) const {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value = value << 8 | byte(at + (big_endian_ ? i : count - 1 - i));
    return value;
  }
  size_t size() const { return bytes_.size(); }

 private:
  uint32_t byte(size_t at) const { return at < bytes_.size() ? std::to_integer<uint32_t>(bytes_[at]) : 0; }

  std::span<const std::byte> bytes_;
  bool big_endian_;
};

struct Place {
  int64_t row = 0, column = 0;
};

/// Place in the stored picture of `height` x `width` of a pixel of the shown one.
Place stored_place(Place shown, int64_t height, int64_t width, Orientation orientation) {
  switch (orientation) {
    case Orientation::mirrored:
      return {shown.row, width - 1 - shown.column};
    case Orientation::half_turn:
      return {height - 1 - shown.row, width - 1 - shown.column};
    case Orientation::flipped:
      return {height - 1 - shown.row, shown.column};
    case Orientation::transposed:
      return {shown.column, shown.row};
    case Orientation::turn_right:
      return {height - 1 - shown.column, shown.row};
    case Orientation::transversed:
      return {height - 1 - shown.column, width - 1 - shown.row};
    case Orientation::turn_left:
      return {shown.column, width - 1 - shown.row};
    case Orientation::as_stored:
      break;
  }
  return shown;
}

}  // namespace

Orientation orientation_in(std::span<const std::byte> tiff_bytes) {
  constexpr uint32_t kOrientation = 0x112, kShort = 3;
  constexpr size_t kEntry = 12;  // tag, type, count, value
  const Tiff tiff(tiff_bytes);
  if (!tiff.is_whole()) return Orientation::as_stored;
  const size_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
  for (size_t e = 0; e < entries; ++e) {
    const size_t at = directory + 2 + e * kEntry;
    if (at + kEntry > tiff.size()) break;
    if (tiff.number(at, 2) != kOrientation) continue;
    const uint32_t value = tiff.number(at + 8, 2);
    return tiff.number(at + 2, 2) == kShort && value >= 1 && value <= 8 ? static_cast<Orientation>(value)
                                                                        : Orientation::as_stored;
  }
  return Orientation::as_stored;
}

bool swaps_sides(Orientation orientation) { return orientation >= Orientation::transposed; }

std::vector<float> turned(std::vector<float> pixels, int64_t height, int64_t width, int64_t channels,
                          Orientation orientation) {
  if (orientation == Orientation::as_stored) return pixels;
  int64_t rows = height, columns = width;
  if (swaps_sides(orientation)) std::swap(rows, columns);
  std::vector<float> shown(pixels.size());
  auto to = shown.begin();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const Place from = stored_place({row, column}, height, width, orientation);
      to = std::copy_n(pixels.begin() + (from.row * width + from.column) * channels, channels, to);
    }
  return shown;
}

}  // namespace stormcell
