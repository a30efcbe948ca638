#include "views/transitions/transitions_geometry.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>

namespace stormcell::views {
namespace {

/// Width of a bar: the second limit leaves room for labels if there are many columns.
constexpr double kWidestBar = 10, kMostOfStep = 0.2, kBarGap = 2;

QPainterPath band(QPointF from, double from_height, QPointF to, double to_height) {
  const double middle = (from.x() + to.x()) / 2;
  QPainterPath path(from);
  path.cubicTo({middle, from.y()}, {middle, to.y()}, to);
  path.lineTo(to + QPointF(0, to_height));
  path.cubicTo({middle, to.y() + to_height}, {middle, from.y() + from_height}, from + QPointF(0, from_height));
  path.closeSubpath();
  return path;
}

/// Lays a flow out, part by part: the lane, bars, then bands between them.
class Layouting {
 public:
  Layouting(const FlowRibbons& flow, QRectF bounds, double line)
      : flow_(flow),
        bounds_(bounds),
        columns_(static_cast<int>(flow.columns.size())),
        bar_width_(std::min(kWidestBar, kMostOfStep * bounds.width() / (columns_ - 1))) {
    layout_.steps = static_cast<int>(flow.steps.size());
    layout_.last_column = columns_ - 1;
    layout_.gap = (bounds.width() - bar_width_) / layout_.last_column - bar_width_;
    if (std::any_of(flow.merged.begin(), flow.merged.end(), [](int64_t cells) { return cells > 0; }))
      make_room_for_lane(line);
  }

  RibbonLayout run() {
    count_bars();
    set_scale();
    for (int c = 0; c < columns_; ++c) place_bars(c);
    place_merged();
    place_bands();
    return std::move(layout_);
  }

 private:
  /// The cells of a branch's ribbons, in and out; its bar is as high as the larger sum.
  struct Bar {
    int64_t in = 0, out = 0;
    int chain = INT_MAX;
    double in_at = 0, out_at = 0;  // where the next band begins
    int64_t count() const { return std::max(in, out); }
  };

  const FlowRibbons::Step& step_of(const FlowRibbons::Ribbon& r) const { return flow_.steps[r.step]; }
  Bar& from_of(const FlowRibbons::Ribbon& r) { return bars_[step_of(r).from][r.from]; }
  Bar& to_of(const FlowRibbons::Ribbon& r) { return bars_[step_of(r).to][r.to]; }
  double left(int column) const {
    return bounds_.left() + (bounds_.width() - bar_width_) * column / static_cast<double>(columns_ - 1);
  }

  void make_room_for_lane(double line) {
    // A line above the lane explains it.
    const double height = std::min(2 * line + 6, bounds_.height() / 4);
    layout_.lane = {bounds_.left() + bar_width_ / 2, bounds_.bottom() - height, bounds_.width() - bar_width_,
                    height};  // from bar to bar
    bounds_.setBottom(std::max(bounds_.top() + 8, layout_.lane.top() - line - 10));
  }

  void count_bars() {
    bars_.resize(columns_);
    for (const auto& r : flow_.ribbons) {
      Bar &from = from_of(r), &to = to_of(r);
      from.out += r.count, to.in += r.count;
      if (r.chain < 0) continue;
      for (Bar* bar : {&from, &to}) bar->chain = std::min(bar->chain, r.chain);
    }
  }

  /// The fullest column fills the height, with gaps between its bars.
  void set_scale() {
    double most = 1;
    for (const auto& column : bars_) {
      int64_t total = 0;
      for (const auto& [branch, bar] : column) total += bar.count();
      most = std::max(most, static_cast<double>(total));
      gaps_ = std::max(gaps_, kBarGap * static_cast<double>(column.size()));
    }
    gaps_ = std::min(gaps_, bounds_.height() / 3);
    scale_ = (bounds_.height() - gaps_) / most;
  }

  void place_bars(int column) {
    // Bars are ordered by number; if some are missing, the hottest chain is at the top.
    std::vector<std::pair<const int, Bar>*> order;
    for (auto& entry : bars_[column]) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->second.chain < b->second.chain; });
    const double gap = order.empty() ? 0 : gaps_ / static_cast<double>(order.size());
    double y = bounds_.top();
    for (auto* entry : order) {
      Bar& bar = entry->second;
      const double height = static_cast<double>(bar.count()) * scale_;
      const int category = !flow_.colours_chains() ? entry->first : bar.chain < kChainsInColour ? bar.chain : -1;
      layout_.nodes.push_back(
          {column, entry->first, bar.count(), QRectF(left(column), y, bar_width_, std::max(1.0, height)), category});
      bar.in_at = bar.out_at = y;
      y += height + gap;
    }
  }

  void place_merged() {
    for (size_t s = 0; s < flow_.merged.size(); ++s) {
      if (flow_.merged[s] <= 0) continue;
      QPainterPath path;
      path.addRect(layout_.lane_step(static_cast<int>(s), flow_.merged_share(s)));
      layout_.bands.push_back({-1 - static_cast<int>(s), path});
    }
  }

  /// In the order of bars at both ends, so that bands cross as little as possible.
  std::vector<int> order_of_ribbons() {
    std::vector<int> order(flow_.ribbons.size());
    std::vector<std::pair<double, double>> ends(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int>(i);
      ends[i] = {from_of(flow_.ribbons[i]).in_at, to_of(flow_.ribbons[i]).in_at};
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
      return std::tuple(flow_.ribbons[x].step, ends[x]) < std::tuple(flow_.ribbons[y].step, ends[y]);
    });
    return order;
  }

  /// Bands in colour are in front of the others.
  void place_bands() {
    std::vector<RibbonLayout::Band> behind, before;
    for (const int i : order_of_ribbons()) {
      const auto& r = flow_.ribbons[i];
      Bar &from = from_of(r), &to = to_of(r);
      const double height = std::max(0.5, static_cast<double>(r.count) * scale_);
      (flow_.in_colour(r) ? before : behind)
          .push_back({i, band({left(step_of(r).from) + bar_width_, from.out_at}, height,
                              {left(step_of(r).to), to.in_at}, height)});
      from.out_at += static_cast<double>(r.count) * scale_;
      to.in_at += static_cast<double>(r.count) * scale_;
    }
    layout_.bands.insert(layout_.bands.end(), behind.begin(), behind.end());
    layout_.bands.insert(layout_.bands.end(), before.begin(), before.end());
  }

  const FlowRibbons& flow_;
  QRectF bounds_;  // without the lane
  int columns_;
  double bar_width_, scale_ = 1, gaps_ = 0;
  std::vector<std::map<int, Bar>> bars_;  // by column and branch
  RibbonLayout layout_;
};

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
  // With few columns, cells may be wider than high: a figure fits better.
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
  return flow.columns.size() < 2 ? RibbonLayout() : Layouting(flow, bounds, line).run();
}

}  // namespace stormcell::views
