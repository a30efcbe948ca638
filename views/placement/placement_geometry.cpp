#include "views/placement/placement_geometry.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {

constexpr double kPlacementGap = 4, kLoadBar = 4, kLeastFront = 30;
/// A grid with a gap at its end counts as smaller by this factor.
constexpr double kRagged = 0.75;

int rows_of(int count, int columns) { return (count + columns - 1) / columns; }

/// The place of one of `count` equal parts, row by row.
QRectF part_of(QRectF whole, int number, int count, int columns, double gap) {
  const double wide = (whole.width() + gap) / columns, high = (whole.height() + gap) / rows_of(count, columns);
  return {whole.left() + (number % columns) * wide, whole.top() + static_cast<double>(number / columns) * high,
          std::max(1.0, wide - gap), std::max(1.0, high - gap)};
}

/// The number of columns that makes parts most like squares.
int columns_of_squares(QSizeF size, int count) {
  int best = 1;
  double most = 0;
  for (int columns = 1; columns <= count; ++columns) {
    const double side = std::min(size.width() / columns, size.height() / rows_of(count, columns));
    if (side > most * 1.0001) most = side, best = columns;
  }
  return best;
}

}  // namespace

PlacementLayout::PlacementLayout(const PlacementPage& page, QSizeF size, double line, double digit)
    : page_(page), line_(line), digit_(digit), gpus_per_node_(std::max(1, page.ranks / std::max(1, page.nodes))) {
  const double side = std::clamp(0.34 * size.width(), 40 * digit, 52 * digit);
  headline = {kMargin, kMargin / 2, size.width() - 2 * kMargin, 3 * line};
  const double top = headline.bottom() + kPlacementGap, high = std::max(60.0, size.height() - top - kMargin);
  const double left = std::max(80.0, size.width() - side - 3 * kMargin), strip = std::min(4 * line, high / 4);
  cluster = {kMargin, top, left, high - strip - line - 2 * kPlacementGap};
  const double scale = 6 * digit;  // figures of the layers' imbalance stand before their bars
  layers = {kMargin + scale, cluster.bottom() + line + 2 * kPlacementGap, left - scale, strip};
  const double rows = page.figures.size() + page.other_figures.size() + (page.other_part.isEmpty() ? 1 : 2);
  // Figures stand close before the chart below them gets less than three lines, with its title and its axis.
  const double for_chart = 5.6 * line, least_chart = 3 * line;
  row_ = std::clamp((high - for_chart - least_chart) / rows, line, line + 3);
  figures = {kMargin * 2 + left, top, side, std::clamp(high - for_chart - kLeastFront, line, rows * row_ + kPartGap)};
  const double axis = 8 * digit, below = figures.bottom() + 3 * line;
  front = {figures.left() + axis, below, side - axis - digit,
           std::max(kLeastFront, size.height() - kMargin - 2.6 * line - below)};
  for (const double imbalance : page.layers) most_layer_ = std::max(most_layer_, imbalance);
  choose_grid();
  scale_front();
}

void PlacementLayout::choose_grid() {
  double most = 0;
  for (int nodes = 1; nodes <= page_.nodes; ++nodes)
    for (int gpus = 1; gpus <= gpus_per_node_; ++gpus) {
      const double wide = cluster.width() / nodes / gpus,
                   high = cluster.height() / rows_of(page_.nodes, nodes) / rows_of(gpus_per_node_, gpus);
      const bool whole = page_.nodes % nodes == 0 && gpus_per_node_ % gpus == 0;
      const double side = std::min(wide, high * 1.3) * (whole ? 1 : kRagged);
      if (side > most * 1.0001) most = side, node_columns_ = nodes, gpu_columns_ = gpus;
    }
  const QRectF one = gpu(0);
  title_ = one.height() > 4 * line_ && one.width() > 9 * digit_ ? line_ : 0;
  const QSizeF room(one.width() - 2 * kPlacementGap, one.height() - title_ - kLoadBar - 2 * kPlacementGap);
  slot_columns_ = columns_of_squares(room, page_.slots_of_rank);
}

void PlacementLayout::scale_front() {
  std::vector<double> x, y;
  const auto add = [&](const FrontPoint& p) { x.push_back(p.imbalance), y.push_back(p.cross_pairs); };
  for (const FrontPoint& p : page_.front) add(p);
  if (page_.here) add(*page_.here);
  if (page_.start) add(*page_.start);
  if (x.empty()) return;
  const auto differ = [](const std::vector<double>& of) {
    const auto [least, most] = std::minmax_element(of.begin(), of.end());
    return *most - *least > 1e-6;
  };
  has_chart_ = differ(x) || differ(y);
  x_ = ValueAxis::around(x, 0, front.width(), 0.01), y_ = ValueAxis::around(y, 0, front.height(), 0.01);
  x_ticks_ = x_.ticks(std::max(2, static_cast<int>(front.width() / (9 * digit_))));
  y_ticks_ = y_.ticks(std::max(2, static_cast<int>(front.height() / (2 * line_))));
}

QRectF PlacementLayout::node(int number) const {
  return part_of(cluster, number, page_.nodes, node_columns_, 2 * kPlacementGap);
}

QRectF PlacementLayout::gpu(size_t rank) const {
  const int number = static_cast<int>(rank);
  QRectF whole = node(number / gpus_per_node_);
  if (page_.nodes > 1) whole.adjust(kPlacementGap, kPlacementGap, -kPlacementGap, -kPlacementGap);
  return part_of(whole, number % gpus_per_node_, gpus_per_node_, gpu_columns_, kPlacementGap);
}

QRectF PlacementLayout::gpu_title(size_t rank) const {
  const QRectF box = gpu(rank);
  return title_ > 0 ? QRectF(box.left() + kPlacementGap, box.top() + 1, box.width() - 2 * kPlacementGap, title_)
                    : QRectF();
}

QRectF PlacementLayout::gpu_bar(size_t rank, double over_mean) const {
  const QRectF box = gpu(rank);
  return {box.left() + 1, box.bottom() - kLoadBar - 1, (box.width() - 2) * std::clamp(over_mean / 2, 0.0, 1.0),
          kLoadBar};
}

QRectF PlacementLayout::cell(size_t slot) const {
  const QRectF box = gpu(page_.rank_of(slot));
  const double gap = box.width() > 12 * page_.slots_of_rank ? 2 : 1;
  const QRectF room =
      box.adjusted(kPlacementGap, title_ + kPlacementGap / 2, -kPlacementGap, -kLoadBar - kPlacementGap);
  return part_of(room, static_cast<int>(slot % static_cast<size_t>(page_.slots_of_rank)), page_.slots_of_rank,
                 slot_columns_, gap);
}

QRectF PlacementLayout::tile(const ShownSlot& expert, size_t slot) const {
  const QRectF whole = cell(slot);
  const double share = page_.most > 0 ? expert.load / page_.most : 0;
  const double side = std::max(3.0, std::min(whole.width(), whole.height()) * std::sqrt(std::min(share, 1.0)));
  return {whole.center().x() - side / 2, whole.center().y() - side / 2, side, side};
}

std::optional<size_t> PlacementLayout::gpu_at(QPointF place) const {
  for (size_t r = 0; r < static_cast<size_t>(page_.ranks); ++r)
    if (gpu(r).contains(place)) return r;
  return {};
}

std::optional<size_t> PlacementLayout::slot_at(QPointF place) const {
  const std::optional<size_t> rank = gpu_at(place);
  if (!rank) return {};
  const size_t each = page_.slots_of_rank;
  for (size_t s = *rank * each; s < (*rank + 1) * each; ++s)
    if (cell(s).contains(place)) return s;
  return {};
}

size_t PlacementLayout::neighbour(size_t slot, int dx, int dy) const {
  const QPointF from = cell(slot).center();
  size_t best = slot;
  double least = 1e300;
  for (size_t s = 0; s < page_.held.size(); ++s) {
    const QPointF step = cell(s).center() - from;
    const double along = dx * step.x() + dy * step.y(), across = std::fabs(dx * step.y()) + std::fabs(dy * step.x());
    if (s == slot || along < 0.5) continue;
    if (const double far = along + 3 * across; far < least) least = far, best = s;
  }
  return best;
}

QRectF PlacementLayout::layer(size_t number) const {
  const double wide =
      std::min(layers.width() / static_cast<double>(std::max<size_t>(1, page_.layers.size())), 6 * digit_);
  return {layers.left() + wide * static_cast<double>(number), layers.top(), wide, layers.height()};
}

QRectF PlacementLayout::layer_bar(size_t number) const {
  const QRectF column = layer(number);
  const double high = most_layer_ > 0 ? column.height() * page_.layers[number] / most_layer_ : 0;
  return {column.left() + 0.5, column.bottom() - std::max(1.0, high), std::max(1.0, column.width() - 1),
          std::max(1.0, high)};
}

std::vector<double> PlacementLayout::layer_ticks() const {
  const int most = std::clamp(static_cast<int>(layers.height() / (1.5 * line_)), 1, 4);
  if (most_layer_ <= 0) return {};
  const ValueAxis axis{0, most_layer_, 0, 1};
  if (std::vector<double> ticks = axis.ticks(most); ticks.size() > 1) return ticks;
  // 0 alone tells no height.
  const std::vector<double> finer = axis.ticks(5);
  return {finer.front(), finer.back()};
}

double PlacementLayout::layer_tick(double imbalance) const {
  return layers.bottom() - layers.height() * imbalance / most_layer_;
}

std::optional<size_t> PlacementLayout::layer_at(QPointF place) const {
  for (size_t l = 0; l < page_.layers.size(); ++l)
    if (layer(l).contains(place)) return l;
  return {};
}

QPointF PlacementLayout::at(const FrontPoint& p) const {
  return {front.left() + x_.x(p.imbalance), front.bottom() - y_.x(p.cross_pairs)};
}

std::optional<size_t> PlacementLayout::front_at(QPointF place) const {
  constexpr double kReach = 10;
  std::optional<size_t> best;
  if (!has_chart_) return best;
  double least = kReach;
  for (size_t p = 0; p < page_.front.size(); ++p) {
    const QPointF away = at(page_.front[p]) - place;
    if (const double far = std::hypot(away.x(), away.y()); far < least) least = far, best = p;
  }
  return best;
}

}  // namespace stormcell::views
