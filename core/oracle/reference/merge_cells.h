// merge_cells: squares of two by two cells of a grid to one cell each.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void merge_cells(const Call<Scalar>& c) {
  const int64_t height = c.attributes().integer("height"), width = c.attributes().integer("width"),
                channels = c.width(0);
  const bool by_columns = word_of(c.node, "order") == "columns";
  Scalar* to = c.out().reals.data();
  for (int64_t first = 0; first < c.rows(0); first += height * width)
    for (int64_t y = 0; y < height; y += 2)
      for (int64_t x = 0; x < width; x += 2)
        for (int64_t part = 0; part < 4; ++part, to += channels) {
          const int64_t down = by_columns ? part % 2 : part / 2, right = by_columns ? part / 2 : part % 2;
          std::copy_n(c.in(0).reals.data() + (first + (y + down) * width + x + right) * channels, channels, to);
        }
}

}  // namespace stormcell::reference
