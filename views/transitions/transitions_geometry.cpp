#include "views/transitions/transitions_geometry.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>

namespace stormcell::views {
namespace {

/// Of a bar: what many columns leave room for labels.
constexpr double kWidestBar = 10, kMostOfStep = 0.2, kGap = 2;

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

const RibbonLayout::Node* RibbonLayout::node_at(QPointF point) const {
  for (const Node& n : nodes)
    if (n.box.adjusted(-3, -1, 3, 1).contains(point)) return &n;
  return nullptr;
}

int RibbonLayout::band_at(QPointF point) const {
  for (size_t b = bands.size(); b-- > 0;)  // what was painted last is on top
    if (bands[b].path.contains(point)) return static_cast<int>(b);
  return -1;
}

QRectF RibbonLayout::lane_step(int step, double share) const {
  const double width = lane.width() / std::max(1, steps);
  return {lane.left() + step * width, lane.bottom() - share * lane.height(), width, share * lane.height()};
}

RibbonLayout lay_out(const FlowRibbons& flow, QRectF bounds, double line) {
  RibbonLayout layout;
  const size_t columns = flow.columns.size();
  if (columns < 2) return layout;
  layout.steps = static_cast<int>(flow.steps.size());
  layout.last_column = static_cast<int>(columns) - 1;
  const double bar_width = std::min(kWidestBar, kMostOfStep * bounds.width() / layout.last_column);
  layout.gap = (bounds.width() - bar_width) / layout.last_column - bar_width;
  if (std::any_of(flow.merged.begin(), flow.merged.end(), [](int64_t cells) { return cells > 0; })) {
    // A line above it says what it is.
    const double height = std::min(2 * line + 6, bounds.height() / 4);
    layout.lane = {bounds.left() + bar_width / 2, bounds.bottom() - height, bounds.width() - bar_width, height};  // from bar to bar
    bounds.setBottom(std::max(bounds.top() + 8, layout.lane.top() - line - 10));
  }
  // What a branch's ribbons carry in and out; its bar is as high as the larger of both.
  struct Bar {
    int64_t in = 0, out = 0;
    int chain = INT_MAX;
    double in_at = 0, out_at = 0;  // where the next band begins
    int64_t count() const { return std::max(in, out); }
  };
  std::vector<std::map<int, Bar>> bars(columns);
  const auto from_of = [&](const FlowRibbons::Ribbon& r) { return static_cast<size_t>(flow.steps[static_cast<size_t>(r.step)].from); };
  const auto to_of = [&](const FlowRibbons::Ribbon& r) { return static_cast<size_t>(flow.steps[static_cast<size_t>(r.step)].to); };
  for (const auto& r : flow.ribbons) {
    Bar &from = bars[from_of(r)][r.from], &to = bars[to_of(r)][r.to];
    from.out += r.count, to.in += r.count;
    for (Bar* bar : {&from, &to}) {
      if (r.chain >= 0) bar->chain = std::min(bar->chain, r.chain);
    }
  }
  double most = 1, gaps = 0;
  for (const auto& column : bars) {
    int64_t total = 0;
    for (const auto& [branch, bar] : column) total += bar.count();
    most = std::max(most, static_cast<double>(total));
    gaps = std::max(gaps, kGap * static_cast<double>(column.size()));
  }
  gaps = std::min(gaps, bounds.height() / 3);
  const double scale = (bounds.height() - gaps) / most;
  const auto left = [&](int column) { return bounds.left() + (bounds.width() - bar_width) * column / static_cast<double>(columns - 1); };
  for (size_t c = 0; c < columns; ++c) {
    // By number; where not all of them are there, the hottest chain runs along the top.
    std::vector<std::pair<const int, Bar>*> order;
    for (auto& entry : bars[c]) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.chain < b->second.chain; });
    const double gap = order.empty() ? 0 : gaps / static_cast<double>(order.size());
    double y = bounds.top();
    for (auto* entry : order) {
      Bar& bar = entry->second;
      const double height = static_cast<double>(bar.count()) * scale;
      layout.nodes.push_back({static_cast<int>(c), entry->first, bar.count(),
                              QRectF(left(static_cast<int>(c)), y, bar_width, std::max(1.0, height)),
                              flow.chains.empty()           ? entry->first
                              : bar.chain < kChainsInColour ? bar.chain
                                                            : -1});
      bar.in_at = bar.out_at = y;
      y += height + gap;
    }
  }
  for (size_t s = 0; s < flow.merged.size(); ++s)
    if (flow.merged[s] > 0) {
      QPainterPath path;
      path.addRect(layout.lane_step(static_cast<int>(s), flow.merged_share(s)));
      layout.bands.push_back({-1 - static_cast<int>(s), path});
    }
  // In the order of bars at both ends, so that bands cross as little as they must.
  std::vector<int> order(flow.ribbons.size());
  std::vector<std::pair<double, double>> ends(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& r = flow.ribbons[i];
    order[i] = static_cast<int>(i);
    ends[i] = {bars[from_of(r)][r.from].in_at, bars[to_of(r)][r.to].in_at};
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
    return std::tuple(flow.ribbons[x].step, ends[x]) < std::tuple(flow.ribbons[y].step, ends[y]);
  });
  std::vector<RibbonLayout::Band> behind, before;
  for (const int i : order) {
    const auto& r = flow.ribbons[static_cast<size_t>(i)];
    Bar &from = bars[from_of(r)][r.from], &to = bars[to_of(r)][r.to];
    const double height = std::max(0.5, static_cast<double>(r.count) * scale);
    (flow.in_colour(r) ? before : behind)
        .push_back({i, band({left(static_cast<int>(from_of(r))) + bar_width, from.out_at}, height,
                            {left(static_cast<int>(to_of(r))), to.in_at}, height)});
    from.out_at += static_cast<double>(r.count) * scale;
    to.in_at += static_cast<double>(r.count) * scale;
  }
  layout.bands.insert(layout.bands.end(), behind.begin(), behind.end());
  layout.bands.insert(layout.bands.end(), before.begin(), before.end());
  return layout;
}

}  // namespace stormcell::views
