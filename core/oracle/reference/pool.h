// pool: average, max or global_average over the windows of maps, channels last.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void pool(const Call<Scalar>& c) {
  const TensorType& type = c.type(0);
  const int64_t height = type.content[0].constant(), width = type.content[1].constant(),
                channels = type.content[2].constant();
  const std::string& kind = c.attributes().word("kind");
  const bool whole = kind == "global_average", most = kind == "max";
  const int64_t size_h = whole ? height : c.attributes().integer("size"), size_w = whole ? width : size_h,
                stride = whole ? 1 : c.attributes().integer("stride"),
                padding = whole ? 0 : integer_of(c.node, "padding");
  const int64_t out_h = (height + 2 * padding - size_h) / stride + 1,
                out_w = (width + 2 * padding - size_w) / stride + 1;
  for (int64_t r = 0; r < c.rows(0); ++r)
    for (int64_t i = 0; i < out_h; ++i)
      for (int64_t j = 0; j < out_w; ++j)
        for (int64_t ch = 0; ch < channels; ++ch) {
          Wide<Scalar> value = 0;  // as many as a map has: in f32 the sum would be further off than what it judges
          bool first = true;
          for (int64_t a = 0; a < size_h; ++a)
            for (int64_t b = 0; b < size_w; ++b) {
              const int64_t y = i * stride + a - padding, x = j * stride + b - padding;
              if (y < 0 || y >= height || x < 0 || x >= width) continue;
              const Wide<Scalar> pixel{c.in(0).reals[((r * height + y) * width + x) * channels + ch]};
              value = first ? pixel : most ? max(value, pixel) : value + pixel;
              first = false;
            }
          if (!most) value /= static_cast<Wide<Scalar>>(size_h * size_w);
          c.out().reals[((r * out_h + i) * out_w + j) * channels + ch] = static_cast<Scalar>(value);
        }
}

}  // namespace stormcell::reference
