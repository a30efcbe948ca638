// pixel_shuffle: channels to the pixels that one pixel turns into.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void pixel_shuffle(const Call<Scalar>& c) {
  const TensorType& type = c.type(0);
  const int64_t height = type.content[0].constant(), width = type.content[1].constant(),
                channels = type.content[2].constant();
  const int64_t factor = c.attributes().integer("factor"), out_channels = channels / (factor * factor);
  for (int64_t r = 0; r < c.rows(0); ++r)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t ch = 0; ch < out_channels; ++ch)
          for (int64_t i = 0; i < factor; ++i)
            for (int64_t j = 0; j < factor; ++j) {
              const int64_t from = ((r * height + y) * width + x) * channels + (ch * factor + i) * factor + j;
              const int64_t to =
                  ((r * height * factor + y * factor + i) * width * factor + x * factor + j) * out_channels + ch;
              c.out().reals[to] = c.in(0).reals[from];
            }
}

}  // namespace stormcell::reference
