// resize: maps of another height and width, by the nearest pixels.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

/// The pixels of a map's side on both sides of output pixel `i` of `to`, and the share of the second.
template <class Scalar>
struct Between {
  int64_t first, second;
  Scalar share;
  Between(int64_t i, int64_t from, int64_t to) {
    using Place = Coordinate<Scalar>;
    const Place at =
        std::max(Place(0),
                 (static_cast<Place>(i) + Place(0.5)) * static_cast<Place>(from) / static_cast<Place>(to) - Place(0.5));
    first = std::min(static_cast<int64_t>(at), from - 1);
    second = std::min(first + 1, from - 1);
    share = static_cast<Scalar>(at - static_cast<Place>(first));
  }
};

template <class Scalar>
void resize(const Call<Scalar>& c) {
  const TensorType& type = c.type(0);
  const int64_t height = type.content[0].constant(), width = type.content[1].constant(),
                channels = type.content[2].constant();
  const int64_t out_h = c.attributes().integer("height"), out_w = c.attributes().integer("width");
  const bool nearest = c.attributes().word("mode") == "nearest";
  for (int64_t r = 0; r < c.rows(0); ++r)
    for (int64_t i = 0; i < out_h; ++i)
      for (int64_t j = 0; j < out_w; ++j)
        for (int64_t ch = 0; ch < channels; ++ch) {
          const auto at = [&](int64_t y, int64_t x) {
            return c.in(0).reals[((r * height + y) * width + x) * channels + ch];
          };
          Scalar value;
          if (nearest) {
            value = at(i * height / out_h, j * width / out_w);
          } else {
            const Between<Scalar> y(i, height, out_h), x(j, width, out_w);
            const Scalar above = at(y.first, x.first) * (1 - x.share) + at(y.first, x.second) * x.share;
            const Scalar below = at(y.second, x.first) * (1 - x.share) + at(y.second, x.second) * x.share;
            value = above * (1 - y.share) + below * y.share;
          }
          c.out().reals[((r * out_h + i) * out_w + j) * channels + ch] = value;
        }
}

}  // namespace stormcell::reference
