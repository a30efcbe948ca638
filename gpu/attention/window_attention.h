// Attention among the cells of windows that cut a grid, and that may be shifted (core/graph/window_grid.h). A warp takes
// a query of one head, and finds the keys of its window where they lie: nothing is rolled or cut before. Scores are
// products, or cosines. All in f32. Bound: reading the keys and values of a window once a query, from caches.
#pragma once
#include "gpu/attention/weigh_values.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct WindowAttentionArgs : KernelArgs<4> {
  static constexpr int kMostValueColumns = 4;  ///< of a lane
  enum { kQueries, kKeys, kValues, kTo };
  int32_t heads = 1, head_dim = 1, value_dim = 1;
  int32_t height = 1, width = 1;  ///< of the grid
  int32_t window_height = 1, window_width = 1;
  int32_t shift_height = 0, shift_width = 0;
  int32_t bias = -1;    ///< handle of [differences of places, heads]
  int32_t scales = -1;  ///< handle of [heads]: scores are cosines; -1: products
  float scale = 1;      ///< of products
};

struct WindowAttentionKernel {
  using Args = WindowAttentionArgs;
  static constexpr const char* kName = "window attention";
  static constexpr int kThreads = 256, kWarps = kThreads / 32, kMostValueDim = 32 * Args::kMostValueColumns;
  static constexpr bool kIndependent = false;
  struct Shared {
    float weight[kWarps][32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const int64_t all = static_cast<int64_t>(a.rows(a.ref[Args::kQueries]).rows) * a.heads,
                  warps = static_cast<int64_t>(x.blocks()) * kWarps;
    for (int64_t i = static_cast<int64_t>(x.block()) * kWarps + x.thread() / 32; i < all; i += warps)
      attend(x, a, i / a.heads, static_cast<int32_t>(i % a.heads));
  }

 private:
  /// A side of the grid, as the place of a query in it: of the rolled grid, which begins at the shift.
  struct Side {
    int32_t extent, window, shift;
    int32_t first;  ///< of the query's window
    int32_t place;  ///< of the query in its window

    STORMCELL_DEVICE Side(int32_t extent, int32_t window, int32_t shift, int32_t query)
        : extent(extent), window(window), shift(shift) {
      const int32_t rolled = query < shift ? query - shift + extent : query - shift;
      first = rolled / window * window, place = rolled - first;
    }
    /// The row or column of the grid that is at a place of the window.
    STORMCELL_DEVICE int32_t at(int32_t of_window) const {
      const int32_t moved = first + of_window + shift;
      return moved < extent ? moved : moved - extent;
    }
    /// A window over the end of the grid has cells from both ends, which do not see each other.
    STORMCELL_DEVICE bool is_seen(int32_t key) const {
      return first + window <= extent - shift || (first + key < extent - shift) == (first + place < extent - shift);
    }
  };
  static constexpr float kLeastLength = 1e-12f, kMostLogarithm = 4.6051702f;  // ln 100

  STORMCELL_DEVICE static float product(const float* a, const float* b, int32_t n) {
    float sum = 0;
    for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }
  STORMCELL_DEVICE static float length(const float* a, int32_t n) {
    return fmaxf(sqrtf(product(a, a, n)), kLeastLength);
  }

  template <class X>
  STORMCELL_DEVICE static void attend(X& x, const Args& a, int64_t row, int32_t head) {
    const int32_t cells = a.height * a.width, keys = a.window_height * a.window_width;
    const auto cell = static_cast<int32_t>(row % cells);
    const Side y(a.height, a.window_height, a.shift_height, cell / a.width),
        across(a.width, a.window_width, a.shift_width, cell % a.width);
    const int64_t grid = row - cell;
    const auto row_of = [&](int32_t key) {
      return grid + y.at(key / a.window_width) * a.width + across.at(key % a.window_width);
    };
    const float* query = a.in<float>(a.ref[Args::kQueries]) + (row * a.heads + head) * a.head_dim;
    const float *scales = a.weight<float>(a.scales), *bias = a.weight<float>(a.bias);
    float factor = a.scale;
    if (scales) factor = expf(fminf(scales[head], kMostLogarithm)) / length(query, a.head_dim);
    const auto score = [&](int32_t key) {
      const int32_t down = key / a.window_width, right = key % a.window_width;
      if (!y.is_seen(down) || !across.is_seen(right)) return -kInfinity;
      const float* at = a.in<float>(a.ref[Args::kKeys]) + (row_of(key) * a.heads + head) * a.head_dim;
      float sum = product(query, at, a.head_dim) * factor;
      if (scales) sum /= length(at, a.head_dim);
      if (!bias) return sum;
      const int32_t difference =
          (y.place - down + a.window_height - 1) * (2 * a.window_width - 1) + across.place - right + a.window_width - 1;
      return sum + bias[static_cast<int64_t>(difference) * a.heads + head];
    };
    const auto value = [&](int32_t key, int32_t column) {
      return a.in<float>(a.ref[Args::kValues])[(row_of(key) * a.heads + head) * a.value_dim + column];
    };
    float means[Args::kMostValueColumns];
    weigh_values(x, x.template shared<Shared>().weight[x.thread() / 32], keys, a.value_dim, score, value, means);
    float* to = a.out<float>(a.ref[Args::kTo]) + (row * a.heads + head) * a.value_dim;
    STORMCELL_UNROLL
    for (int c = 0; c < Args::kMostValueColumns; ++c)
      if (const int32_t column = x.thread() % 32 + 32 * c; column < a.value_dim) x.store(to + column, means[c]);
  }
};

}  // namespace stormcell::gpu
