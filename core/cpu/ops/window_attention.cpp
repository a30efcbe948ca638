// One task is all queries of one head in one window. Its rows are gathered, so that partition and shift cost three
// copies of the window in cache; bias and mask are one matrix [query, key], made anew only where the head or the kind
// of window changes: inside the grid, over its last row, its last column, or both.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/align.h"
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/graph/window_grid.h"

namespace stormcell::cpu {
namespace {

/// A thread's memory.
struct Room {
  float *bias, *q, *k, *v, *y, *attention;
  int32_t* rows;
};

class WindowAttention : public Kernel {
 public:
  explicit WindowAttention(const BuildContext& m)
      : grid_(window_grid_of(m.node())),
        heads_(m.node().attributes.integer("heads")),
        dim_(m.type(0).content[0].constant() / heads_),
        value_dim_(m.type(2).content[0].constant() / heads_),
        scale_(static_cast<float>(real_of(m.node(), "scale"))),
        threads_(m.threads) {
    if (const auto i = extra_input(m.node(), "bias")) bias_ = m.f32_weight(*i), has_bias_ = true;
    if (const auto i = extra_input(m.node(), "scales")) scales_ = m.f32_weight(*i), cosine_ = true;
  }
  int64_t scratch_bytes() const override { return static_cast<int64_t>(room_bytes()) * threads_; }

  void run(const Call& c) const override {
    const int64_t grids = c.in[0].rows / (grid_.height * grid_.width);
    const std::array<int64_t, kKinds> windows = windows_of_kinds();
    // Tasks by head, then by kind: a thread's part holds few of either.
    c.team.split(heads_ * grids * grid_.windows(), 1, [&](int64_t begin, int64_t end, int member) {
      const Room room = room_of(c.scratch, member);
      int64_t task = 0;
      for (int64_t head = 0; head < heads_; ++head)
        for (int kind = 0; kind < kKinds; ++kind) {
          const int64_t first = std::max(begin, task), last = std::min(end, task + windows[kind] * grids);
          if (first < last) fill_bias(c, head, kind, room);
          for (int64_t i = first; i < last && !c.team.cancelled(); ++i) {
            const int64_t nth = i - task, of_kind = windows[kind];
            attend(c, nth / of_kind, window_of(kind, nth % of_kind), head, room);
          }
          task += windows[kind] * grids;
        }
    });
  }

 private:
  /// Bit 0: in the last column of windows, a part of which hangs over; bit 1: in the last row.
  static constexpr int kKinds = 4;

  bool splits_rows() const { return grid_.shift_height > 0; }
  bool splits_columns() const { return grid_.shift_width > 0; }
  std::array<int64_t, kKinds> windows_of_kinds() const {
    const int64_t rows = grid_.rows() - splits_rows(), columns = grid_.columns() - splits_columns();
    return {rows * columns, splits_columns() ? rows : 0, splits_rows() ? columns : 0,
            splits_rows() && splits_columns() ? 1 : 0};
  }
  int64_t window_of(int kind, int64_t nth) const {
    const int64_t columns = grid_.columns(), whole = columns - splits_columns();
    switch (kind) {
      case 0:
        return nth / whole * columns + nth % whole;
      case 1:
        return nth * columns + columns - 1;
      case 2:
        return (grid_.rows() - 1) * columns + nth;
      default:
        return grid_.windows() - 1;
    }
  }

  size_t cells() const { return static_cast<size_t>(grid_.cells()); }
  size_t bias_floats() const { return has_bias_ || splits_rows() || splits_columns() ? cells() * cells() : 0; }
  size_t rows_bytes(int64_t width) const { return align_up(cells() * static_cast<size_t>(width) * sizeof(float)); }
  size_t room_bytes() const {
    return align_up(bias_floats() * sizeof(float)) + 2 * rows_bytes(dim_) + 2 * rows_bytes(value_dim_) +
           align_up(static_cast<size_t>(attention_task_floats(grid_.cells(), dim_, value_dim_)) * sizeof(float)) +
           align_up(cells() * sizeof(int32_t));
  }
  Room room_of(std::byte* scratch, int member) const {
    std::byte* at = scratch + static_cast<size_t>(member) * room_bytes();
    const auto take = [&](size_t bytes) {
      std::byte* const taken = at;
      at += align_up(bytes);
      return reinterpret_cast<float*>(taken);
    };
    Room room{};
    room.bias = take(bias_floats() * sizeof(float));
    room.q = take(rows_bytes(dim_)), room.k = take(rows_bytes(dim_));
    room.v = take(rows_bytes(value_dim_)), room.y = take(rows_bytes(value_dim_));
    room.attention = take(static_cast<size_t>(attention_task_floats(grid_.cells(), dim_, value_dim_)) * sizeof(float));
    room.rows = reinterpret_cast<int32_t*>(take(cells() * sizeof(int32_t)));
    return room;
  }

  /// The part of a window of this kind that a place lies in: places of other parts do not see it.
  int part(int kind, int64_t y, int64_t x) const {
    const bool below = (kind & 2) != 0 && y >= grid_.window_height - grid_.shift_height;
    const bool right = (kind & 1) != 0 && x >= grid_.window_width - grid_.shift_width;
    return (below ? 2 : 0) + (right ? 1 : 0);
  }
  void fill_bias(const Call& c, int64_t head, int kind, const Room& room) const {
    if (bias_floats() == 0) return;
    const float* table = has_bias_ ? c.floats(bias_) : nullptr;
    const int64_t h = grid_.window_height, w = grid_.window_width, across = 2 * w - 1;
    // The head's biases by distance, rightmost first: those of a query and the keys of one row follow one another.
    float* const by_distance = room.attention;
    for (int64_t down = 0; down < 2 * h - 1; ++down)
      for (int64_t i = 0; i < across; ++i)
        by_distance[down * across + i] = table ? table[(down * across + across - 1 - i) * heads_ + head] : 0.0f;
    float* to = room.bias;
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        for (int64_t v = 0; v < h; ++v, to += w) {
          std::memcpy(to, by_distance + (y - v + h - 1) * across + w - 1 - x, static_cast<size_t>(w) * sizeof(float));
          for (int64_t u = 0; kind != 0 && u < w; ++u)
            if (part(kind, y, x) != part(kind, v, u)) to[u] = -std::numeric_limits<float>::infinity();
        }
  }

  /// Rows of one head of a window's cells, of length 1 with cosine.
  void collect(const Rows& from, int64_t first, int64_t head, int64_t width, bool normalised, const Room& room,
               float* to) const {
    const KernelTable& table = kernels();
    float* const squares = room.attention;
    for (int64_t i = 0; i < grid_.cells(); ++i, to += width) {
      const float* row = from.reals() + (first + room.rows[i]) * from.width + head * width;
      if (normalised) {
        table.multiply(row, row, width, squares);
        table.scale(row, 1 / std::max(std::sqrt(table.sum(squares, width)), 1e-12f), width, to);
      } else {
        std::memcpy(to, row, static_cast<size_t>(width) * sizeof(float));
      }
    }
  }
  void attend(const Call& c, int64_t grid, int64_t window, int64_t head, const Room& room) const {
    const int64_t first = grid * grid_.height * grid_.width,
                  top = window / grid_.columns() * grid_.window_height + grid_.shift_height,
                  left = window % grid_.columns() * grid_.window_width + grid_.shift_width;
    for (int64_t y = 0, i = 0; y < grid_.window_height; ++y)
      for (int64_t x = 0; x < grid_.window_width; ++x, ++i)
        room.rows[i] = static_cast<int32_t>((top + y) % grid_.height * grid_.width + (left + x) % grid_.width);
    collect(c.in[0], first, head, dim_, cosine_, room, room.q);
    collect(c.in[1], first, head, dim_, cosine_, room, room.k);
    collect(c.in[2], first, head, value_dim_, false, room, room.v);
    AttentionTask task;
    task.q = room.q, task.k = room.k, task.v = room.v;
    task.ldq = task.ldk = dim_;
    task.ldv = task.ldo = value_dim_;
    task.head_dim = static_cast<int32_t>(dim_), task.value_dim = static_cast<int32_t>(value_dim_);
    task.queries = task.keys = grid_.cells();
    task.scale = scale_;
    if (cosine_) task.scale = std::exp(std::min(c.floats(scales_)[head], std::log(100.0f)));
    if (bias_floats() > 0) task.bias = room.bias, task.bias_step = grid_.cells();
    task.out = room.y;
    task.scratch = room.attention;
    kernels().attention(task);
    const Rows& out = c.out[0];
    for (int64_t i = 0; i < grid_.cells(); ++i)
      std::memcpy(out.reals() + (first + room.rows[i]) * out.width + head * value_dim_, room.y + i * value_dim_,
                  static_cast<size_t>(value_dim_) * sizeof(float));
  }

  WindowGrid grid_;
  int64_t heads_, dim_, value_dim_;
  float scale_;
  int threads_;
  WeightHandle bias_, scales_;
  bool has_bias_ = false, cosine_ = false;
};

}  // namespace
std::unique_ptr<Kernel> make_window_attention(const BuildContext& m) { return std::make_unique<WindowAttention>(m); }
}  // namespace stormcell::cpu
