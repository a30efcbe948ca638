#include "core/cell/thumbnail.h"

#include <algorithm>
#include <cmath>

namespace stormcell {
namespace {

bool is_shown(int64_t channels) { return channels == 1 || channels == 3; }

/// Pixels [first, end) on a side of `from` pixels that become pixel `to` of `count`; never empty.
struct Run {
  int64_t first, end;
};
Run run_of(int64_t to, int64_t count, int64_t from) {
  return {to * from / count, std::max(to * from / count + 1, (to + 1) * from / count)};
}

}  // namespace

PictureSize thumbnail_size(PictureSize size) {
  const int64_t longer = std::max(size.height, size.width);
  if (longer <= kThumbnailSide) return size;
  const auto side = [&](int64_t of) { return std::max<int64_t>(1, (of * kThumbnailSide + longer / 2) / longer); };
  return {side(size.height), side(size.width)};
}

int64_t thumbnail_bytes(PictureSize size, int64_t channels) {
  return is_shown(channels) && size.pixels() > 0 ? thumbnail_size(size).pixels() * channels : 0;
}

Thumbnail thumbnail_of(std::span<const float> pixels, PictureSize size, int64_t channels) {
  if (thumbnail_bytes(size, channels) == 0 || std::ssize(pixels) != size.pixels() * channels) return {};
  Thumbnail small{thumbnail_size(size), channels, {}};
  small.pixels.reserve(thumbnail_bytes(size, channels));
  for (int64_t y = 0; y < small.size.height; ++y)
    for (int64_t x = 0; x < small.size.width; ++x) {
      const Run rows = run_of(y, small.size.height, size.height), columns = run_of(x, small.size.width, size.width);
      double sums[3] = {};
      for (int64_t row = rows.first; row < rows.end; ++row) {
        const float* at = pixels.data() + (row * size.width + columns.first) * channels;
        for (int64_t column = columns.first; column < columns.end; ++column)
          for (int64_t c = 0; c < channels; ++c) sums[c] += static_cast<double>(*at++);
      }
      const double area = (rows.end - rows.first) * (columns.end - columns.first);
      for (int64_t c = 0; c < channels; ++c)
        small.pixels.push_back(static_cast<uint8_t>(std::lround(255 * std::clamp(sums[c] / area, 0.0, 1.0))));
    }
  return small;
}

}  // namespace stormcell
