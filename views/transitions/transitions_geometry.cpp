#include "views/transitions/transitions_geometry.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stormcell::views {
namespace {

constexpr double kBar = 10, kGap = 2;

QPainterPath band(QPointF from, double from_height, QPointF to, double to_height) {
  const double middle = (from.x() + to.x()) / 2;
  QPainterPath path(from);
  path.cubicTo({middle, from.y()}, {middle, to.y()}, to);
  path.lineTo(to + QPointF(0, to_height));
  path.cubicTo({middle, to.y() + to_height}, {middle, from.y() + from_height}, from + QPointF(0, from_height));
  path.closeSubpath();
  return path;
}

}  // namespace

QRectF PairGrid::cell(int row, int column) const {
  return {area.left() + column * side(), area.top() + row * row_height(), side(), row_height()};
}

std::optional<std::pair<int, int>> PairGrid::at(QPointF p) const {
  if (!area.contains(p)) return {};
  return std::pair{std::min(rows - 1, static_cast<int>((p.y() - area.top()) / row_height())),
                   std::min(columns - 1, static_cast<int>((p.x() - area.left()) / side()))};
}

PairGrid pair_grid(QRectF bounds, int rows, int columns, double left, double top) {
  rows = std::max(1, rows), columns = std::max(1, columns);
  const double width = std::max(8.0, bounds.width() - left), height = std::max(8.0, bounds.height() - top);
  // Wider than high is fine where there are few columns; a figure stands better in it.
  const double tall = std::min(height / rows, kTallest), wide = std::min(width / columns, tall * 2);
  return {{bounds.left() + left, bounds.top() + top, wide * columns, tall * rows}, rows, columns};
}

const FlowLayout::Node* FlowLayout::node_at(QPointF point) const {
  for (const Node& n : nodes)
    if (n.box.adjusted(-3, -1, 3, 1).contains(point)) return &n;
  return nullptr;
}

int FlowLayout::band_at(QPointF point) const {
  for (size_t b = bands.size(); b-- > 0;)  // what was painted last is on top
    if (bands[b].path.contains(point)) return static_cast<int>(b);
  return -1;
}

FlowLayout lay_out(const FlowRibbons& flow, QRectF bounds) {
  FlowLayout layout;
  const size_t columns = flow.columns.size();
  if (columns < 2) return layout;
  // What a branch's ribbons carry in and out; its bar is as high as the larger of both.
  std::vector<std::map<int, std::pair<int64_t, int64_t>>> load(columns);
  for (const auto& r : flow.ribbons) {
    load[static_cast<size_t>(r.step)][r.from].second += r.count;
    load[static_cast<size_t>(r.step) + 1][r.to].first += r.count;
  }
  std::vector<int64_t> merged(columns), total(columns);
  double most = 1, gaps = 0;
  for (size_t c = 0; c < columns; ++c) {
    merged[c] = std::max(c < flow.merged.size() ? flow.merged[c] : 0, c > 0 ? flow.merged[c - 1] : 0);
    total[c] = merged[c];
    for (const auto& [branch, counts] : load[c]) total[c] += std::max(counts.first, counts.second);
    most = std::max(most, static_cast<double>(total[c]));
    gaps = std::max(gaps, kGap * static_cast<double>(load[c].size()));
  }
  gaps = std::min(gaps, bounds.height() / 3);
  const double scale = (bounds.height() - gaps) / most;
  std::vector<std::map<int, double>> in(columns), out(columns);  // where the next band begins
  std::vector<double> merged_at(columns);
  for (size_t c = 0; c < columns; ++c) {
    const double x = bounds.left() + (bounds.width() - kBar) * static_cast<double>(c) / static_cast<double>(columns - 1);
    const double gap = load[c].empty() ? 0 : gaps / static_cast<double>(load[c].size());
    double y = bounds.top();
    for (const auto& [branch, counts] : load[c]) {
      const int64_t count = std::max(counts.first, counts.second);
      layout.nodes.push_back({static_cast<int>(c), branch, count, QRectF(x, y, kBar, std::max(1.0, static_cast<double>(count) * scale))});
      in[c][branch] = out[c][branch] = y;
      y += static_cast<double>(count) * scale + gap;
    }
    merged_at[c] = y;
    if (merged[c] > 0)
      layout.nodes.push_back(
          {static_cast<int>(c), -1, merged[c], QRectF(x, y, kBar, std::max(1.0, static_cast<double>(merged[c]) * scale))});
  }
  const auto left = [&](int column) { return bounds.left() + (bounds.width() - kBar) * column / static_cast<double>(columns - 1); };
  for (size_t s = 0; s + 1 < columns; ++s)
    if (flow.merged[s] > 0) {
      const double height = static_cast<double>(flow.merged[s]) * scale;
      layout.bands.push_back({-1 - static_cast<int>(s), band({left(static_cast<int>(s)) + kBar, merged_at[s]}, height,
                                                             {left(static_cast<int>(s) + 1), merged_at[s + 1]}, height)});
    }
  // In the order of branches at both ends, so that bands cross as little as they must.
  std::vector<int> order(flow.ribbons.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto &x = flow.ribbons[static_cast<size_t>(a)], &y = flow.ribbons[static_cast<size_t>(b)];
    return std::tuple(x.step, x.from, x.to) < std::tuple(y.step, y.from, y.to);
  });
  for (const int i : order) {
    const auto& r = flow.ribbons[static_cast<size_t>(i)];
    const auto c = static_cast<size_t>(r.step);
    const double height = std::max(0.5, static_cast<double>(r.count) * scale);
    layout.bands.push_back({i, band({left(r.step) + kBar, out[c][r.from]}, height, {left(r.step + 1), in[c + 1][r.to]}, height)});
    out[c][r.from] += static_cast<double>(r.count) * scale;
    in[c + 1][r.to] += static_cast<double>(r.count) * scale;
  }
  return layout;
}

}  // namespace stormcell::views
