// window_attention: softmax(score(q, k) + bias) v among the cells of one window of a grid. As published with Swin: the
// grid is rolled by the shift and cut into windows. The stripes of the rolled grid keep cells apart that are neighbours
// only by rolling.
#pragma once
#include <cmath>

#include "core/graph/window_grid.h"
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

/// Origin of a cell of a window; it sees only the cells of its own part.
struct WindowCell {
  int64_t row = 0, y = 0, x = 0, part = 0;  ///< row of its grid; place in the window
};

inline std::vector<WindowCell> cells_of_window(const WindowGrid& grid, int64_t window) {
  // Stripes of the rolled grid: 0 before the last window, 1 its part within the grid, 2 its part beyond the end.
  const auto stripe = [](int64_t rolled, int64_t extent, int64_t side, int64_t shift) -> int64_t {
    return rolled < extent - side ? 0 : rolled < extent - shift ? 1 : 2;
  };
  const int64_t top = window / grid.columns() * grid.window_height, left = window % grid.columns() * grid.window_width;
  std::vector<WindowCell> cells;
  for (int64_t y = 0; y < grid.window_height; ++y)
    for (int64_t x = 0; x < grid.window_width; ++x) {
      const int64_t row = (top + y + grid.shift_height) % grid.height,
                    column = (left + x + grid.shift_width) % grid.width;
      cells.push_back({row * grid.width + column, y, x,
                       3 * stripe(top + y, grid.height, grid.window_height, grid.shift_height) +
                           stripe(left + x, grid.width, grid.window_width, grid.shift_width)});
    }
  return cells;
}

template <class Scalar>
struct WindowHead {
  const Scalar *q, *k, *v;  // of the grid's first cell and the head
  int64_t q_stride, v_stride, dim, value_dim, heads, head;
  Scalar scale;
  const Scalar* bias;  // null: there is none
  bool cosine;
  Scalar* y;

  Scalar length(const Scalar* x) const {
    Scalar sum = 0;
    for (int64_t i = 0; i < dim; ++i) sum += x[i] * x[i];
    return at_least(sqrt(sum), Scalar(1e-12));
  }
  /// Keys are stored dimension by dimension, so that a query's scores of all keys are summed side by side.
  std::vector<Scalar> keys(const std::vector<WindowCell>& cells) const {
    std::vector<Scalar> kt(cells.size() * static_cast<size_t>(dim));
    for (size_t j = 0; j < cells.size(); ++j) {
      const Scalar* from = k + cells[j].row * q_stride;
      const Scalar size = cosine ? length(from) : 1;
      for (int64_t i = 0; i < dim; ++i) kt[i * cells.size() + j] = from[i] / size;
    }
    return kt;
  }
  void attend(const WindowGrid& grid, const std::vector<WindowCell>& cells) const {
    const std::vector<Scalar> kt = keys(cells);
    std::vector<Scalar> p(cells.size());
    for (const WindowCell& query : cells) {
      const Scalar* from = q + query.row * q_stride;
      const Scalar size = cosine ? length(from) : 1;
      p.assign(cells.size(), 0);
      for (int64_t i = 0; i < dim; ++i) {
        const Scalar part = from[i] / size;
        for (size_t j = 0; j < cells.size(); ++j) p[j] += part * kt[i * cells.size() + j];
      }
      weigh(grid, cells, query, p);
      for (size_t j = 0; j < cells.size(); ++j)
        for (int64_t e = 0; p[j] != 0 && e < value_dim; ++e)
          y[query.row * v_stride + e] += p[j] * v[cells[j].row * v_stride + e];
    }
  }
  /// Products to weights.
  void weigh(const WindowGrid& grid, const std::vector<WindowCell>& cells, const WindowCell& query,
             std::vector<Scalar>& p) const {
    Scalar most = lowest(Scalar()), sum = 0;
    for (size_t j = 0; j < cells.size(); ++j) {
      const WindowCell& key = cells[j];
      const int64_t place = (query.y - key.y + grid.window_height - 1) * (2 * grid.window_width - 1) + query.x - key.x +
                            grid.window_width - 1;
      p[j] = p[j] * scale + (bias ? bias[place * heads + head] : 0);
      if (key.part != query.part) p[j] = lowest(Scalar());
      most = max(most, p[j]);
    }
    for (Scalar& e : p) sum += e = exp(e - most);
    for (Scalar& e : p) e /= sum;
  }
};

template <class Scalar>
void window_attention(const Call<Scalar>& c) {
  const WindowGrid grid = window_grid_of(c.node);
  const int64_t heads = c.attributes().integer("heads"), tokens = grid.height * grid.width, grids = c.rows(0) / tokens;
  const auto bias_input = extra_input(c.node, "bias"), scales_input = extra_input(c.node, "scales");
  std::vector<Scalar> bias, scales;
  if (bias_input) bias = c.whole(*bias_input);
  if (scales_input) scales = c.whole(*scales_input);
  c.team.split(grids * grid.windows(), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end && !c.cancel.cancelled(); ++i) {
      const std::vector<WindowCell> cells = cells_of_window(grid, i % grid.windows());
      const int64_t first = i / grid.windows() * tokens;
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t dim = c.width(0) / heads, value_dim = c.width(2) / heads, at = first * c.width(0) + h * dim,
                      value_at = first * c.width(2) + h * value_dim;
        const Scalar scale = scales.empty() ? static_cast<Scalar>(real_of(c.node, "scale"))
                                            : exp(at_most(scales[h], static_cast<Scalar>(std::log(100.0))));
        const WindowHead<Scalar> head{c.in(0).reals.data() + at,
                                      c.in(1).reals.data() + at,
                                      c.in(2).reals.data() + value_at,
                                      c.width(0),
                                      c.width(2),
                                      dim,
                                      value_dim,
                                      heads,
                                      h,
                                      scale,
                                      bias.empty() ? nullptr : bias.data(),
                                      !scales.empty(),
                                      c.out().reals.data() + value_at};
        head.attend(grid, cells);
      }
    }
  });
  c.cancel.check();
}

}  // namespace stormcell::reference
