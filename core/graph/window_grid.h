// A grid of cells cut into windows that may be shifted cyclically: what window_attention means by it.
#pragma once
#include <cstdint>

#include "core/graph/operator.h"

namespace stormcell {

/// Windows of window_height x window_width over a grid of height x width cells, row by row, `shift` places further down
/// and right than the grid begins: parts that hang over its end come from its beginning.
struct WindowGrid {
  int64_t height = 0, width = 0, window_height = 0, window_width = 0, shift_height = 0, shift_width = 0;

  bool is_valid() const {
    constexpr int64_t kMostSide = 1 << 20,
                      kMostWindow = 1 << 10;  // numbers of cells, and of places, stay far from overflow
    return window_height >= 1 && window_width >= 1 && window_height <= kMostWindow && window_width <= kMostWindow &&
           height <= kMostSide && width <= kMostSide && height >= window_height && width >= window_width &&
           height % window_height == 0 && width % window_width == 0 && shift_height >= 0 && shift_width >= 0 &&
           shift_height < window_height && shift_width < window_width;
  }
  int64_t rows() const { return height / window_height; }
  int64_t columns() const { return width / window_width; }
  int64_t windows() const { return rows() * columns(); }
  /// Cells of a window.
  int64_t cells() const { return window_height * window_width; }
  /// Differences of two places in a window.
  int64_t places() const { return (2 * window_height - 1) * (2 * window_width - 1); }
};

/// The windows of the window_attention node `node`.
WindowGrid window_grid_of(const Node& node);

}  // namespace stormcell
