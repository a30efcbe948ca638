// Pixels of maps in other places, channels last: channels that become pixels, maps of another size, patches of a picture
// and the picture of its patches. A thread takes a number of the result. Bound: copy bandwidth.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// The source of a number of the result.
enum class PixelMap : uint8_t {
  shuffle,   ///< a channel of the pixel that it was part of
  nearest,   ///< the nearest pixel
  bilinear,  ///< the four nearest pixels, weighed by their distances
  unfold,    ///< the pixel that the patch holds
  merge,     ///< as unfold, for patches of two by two whose pixels become channels in succession
  fold,      ///< the mean over the patches that hold the pixel
};

struct PixelArgs : KernelArgs<2> {
  enum { kX, kTo };
  int32_t height = 1, width = 1, channels = 1;              ///< of the input map
  int32_t out_height = 1, out_width = 1, out_channels = 1;  ///< of the result
  int32_t factor = 1;                                       ///< of a shuffle
  int32_t grid_rows = 1, grid_columns = 1, stride = 1;      ///< patches of a picture (core/graph/patch_grid.h)
  PixelMap map = PixelMap::shuffle;
  bool by_columns = false;  ///< of a merge: the pixels of a patch column by column, else row by row
};

struct PixelKernel {
  using Args = PixelArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "pixels";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const float* from = a.in<float>(a.ref[Args::kX]);
    float* to = a.out<float>(a.ref[Args::kTo]);
    const int64_t all =
        static_cast<int64_t>(a.rows(a.ref[Args::kTo]).rows) * a.out_height * a.out_width * a.out_channels;
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      Place p;
      p.channel = static_cast<int32_t>(i % a.out_channels);
      const int64_t pixel = i / a.out_channels;
      p.x = static_cast<int32_t>(pixel % a.out_width), p.y = static_cast<int32_t>(pixel / a.out_width % a.out_height);
      p.map = pixel / a.out_width / a.out_height;
      x.store(to + i, number(x, a, from, p));
    }
  }

 private:
  /// A number of the result.
  struct Place {
    int64_t map;
    int32_t y, x, channel;
  };
  template <class X>
  STORMCELL_DEVICE static float at(X& x, const Args& a, const float* from, int64_t map, int32_t row, int32_t column,
                                   int32_t channel) {
    return x.load(from + ((map * a.height + row) * a.width + column) * a.channels + channel);
  }
  template <class X>
  STORMCELL_DEVICE static float number(X& x, const Args& a, const float* from, const Place& p) {
    switch (a.map) {
      case PixelMap::shuffle: {
        const int32_t channel = (p.channel * a.factor + p.y % a.factor) * a.factor + p.x % a.factor;
        return at(x, a, from, p.map, p.y / a.factor, p.x / a.factor, channel);
      }
      case PixelMap::nearest:
        return at(x, a, from, p.map, static_cast<int32_t>(static_cast<int64_t>(p.y) * a.height / a.out_height),
                  static_cast<int32_t>(static_cast<int64_t>(p.x) * a.width / a.out_width), p.channel);
      case PixelMap::bilinear:
        return between(x, a, from, p);
      case PixelMap::unfold: {
        const int64_t patches = static_cast<int64_t>(a.grid_rows) * a.grid_columns, place = p.map % patches;
        const int32_t row = first(static_cast<int32_t>(place / a.grid_columns), a.stride, a.height - a.out_height),
                      column = first(static_cast<int32_t>(place % a.grid_columns), a.stride, a.width - a.out_width);
        return at(x, a, from, p.map / patches, row + p.y, column + p.x, p.channel);
      }
      case PixelMap::merge:
        return merged(x, a, from, p);
      default:
        return folded(x, a, from, p);
    }
  }
  /// The first pixel of a patch along a side; `last`: the first pixel of the last patch.
  STORMCELL_DEVICE static int32_t first(int32_t patch, int32_t stride, int32_t last) {
    return static_cast<int32_t>(least<int64_t>(static_cast<int64_t>(patch) * stride, last));
  }

  /// The pixels of a side on both sides of a pixel of the result, and the share of the second.
  struct Between {
    int32_t first, second;
    float share;
    STORMCELL_DEVICE Between(int64_t i, int64_t from, int64_t to) {
      // Computed in integers, twice the numerator over twice the denominator: a float would round the place of a far
      // pixel.
      const int64_t doubled = most<int64_t>(0, (2 * i + 1) * from - to);
      first = static_cast<int32_t>(least<int64_t>(doubled / (2 * to), from - 1));
      second = static_cast<int32_t>(least<int64_t>(first + 1, from - 1));
      share = static_cast<float>(doubled - first * 2 * to) / static_cast<float>(2 * to);
    }
  };
  template <class X>
  STORMCELL_DEVICE static float between(X& x, const Args& a, const float* from, const Place& p) {
    const Between row(p.y, a.height, a.out_height), column(p.x, a.width, a.out_width);
    const auto along = [&](int32_t y) {
      return at(x, a, from, p.map, y, column.first, p.channel) * (1 - column.share) +
             at(x, a, from, p.map, y, column.second, p.channel) * column.share;
    };
    return along(row.first) * (1 - row.share) + along(row.second) * row.share;
  }

  template <class X>
  STORMCELL_DEVICE static float merged(X& x, const Args& a, const float* from, const Place& p) {
    const int64_t patches = static_cast<int64_t>(a.grid_rows) * a.grid_columns;
    const auto patch = static_cast<int32_t>(p.map % patches);
    const int32_t part = p.channel / a.channels, down = a.by_columns ? part % 2 : part / 2,
                  right = a.by_columns ? part / 2 : part % 2;
    return at(x, a, from, p.map / patches, patch / a.grid_columns * 2 + down, patch % a.grid_columns * 2 + right,
              p.channel % a.channels);
  }

  /// The maps that come are the patches of the picture, in the order of the grid.
  template <class X>
  STORMCELL_DEVICE static float folded(X& x, const Args& a, const float* from, const Place& p) {
    float sum = 0, times = 0;
    for (int32_t i = most(0, (p.y - a.height) / a.stride); i < a.grid_rows; ++i) {
      const int32_t row = p.y - first(i, a.stride, a.out_height - a.height);
      if (row < 0) break;
      if (row >= a.height) continue;
      for (int32_t j = most(0, (p.x - a.width) / a.stride); j < a.grid_columns; ++j) {
        const int32_t column = p.x - first(j, a.stride, a.out_width - a.width);
        if (column < 0) break;
        if (column >= a.width) continue;
        sum += at(x, a, from, (p.map * a.grid_rows + i) * a.grid_columns + j, row, column, p.channel);
        times += 1;
      }
    }
    return sum / times;
  }
};

}  // namespace stormcell::gpu
