#include "views/graph/graph_geometry.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {

/// Largest height of a slot: this, or this share of the room if that is larger.
constexpr double kTallest = 240, kTallestShare = 0.8;
/// Shares of a slot's width and height that a card takes; the rest is for edges.
constexpr double kCardShare = 0.7, kCardHeight = 0.8;
/// Gap between the name of a row and its squares; some letters are wider than digits.
constexpr double kNameGap = 6;
constexpr double kLeastSquare = 7, kSquareGap = 1.5;

double least_slot(double digit) { return 7.5 * digit; }

size_t most_rows(const GraphPage& page) {
  size_t rows = 1;
  for (const GraphCard& c : page.cards) rows = std::max(rows, c.rows.size());
  return rows;
}

/// Columns of squares in a row: a single line if they are few, else as square as the room allows.
int square_columns(const QRectF& row, size_t squares) {
  if (static_cast<double>(squares) * (kLeastSquare + kSquareGap) <= row.width()) return static_cast<int>(squares);
  const double side = std::sqrt(row.width() * row.height() / static_cast<double>(squares));
  return std::clamp(static_cast<int>(std::ceil(row.width() / std::max(1.0, side))), 1, static_cast<int>(squares));
}

}  // namespace

GraphLayout::Bands GraphLayout::bands_of(const PlaceLane& lane, double width, double digit) {
  const auto fit = std::max(1, static_cast<int>(std::max(0.0, width - 2 * kMargin) / least_slot(digit)));
  const int32_t count = (lane.columns + fit - 1) / fit;
  return {std::max(1, count), std::max(1, (lane.columns + count - 1) / std::max(1, count))};
}

double GraphLayout::needed_height(const GraphPage& page, double width, double line, double digit,
                                  double legend_height) {
  double stacked = 0;
  for (const PlaceLane& lane : page.layout.lanes) stacked += lane.rows * bands_of(lane, width, digit).count;
  size_t squares = 1;
  for (const GraphCard& c : page.cards)
    for (const GraphRow& r : c.rows) squares = std::max(squares, r.squares.size());
  // Many squares take several lines.
  const double across = std::max(1.0, std::floor(least_slot(digit) * kCardShare / (kLeastSquare + kSquareGap)));
  const double row = std::ceil(static_cast<double>(squares) / across) * (kLeastSquare + kSquareGap) + 2;
  const double card = line + 2 + static_cast<double>(most_rows(page)) * std::max(row, 10.0);
  return 1.5 * line + legend_height + 3 * kMargin + stacked * card / kCardHeight;
}

GraphLayout::GraphLayout(const GraphPage& page, QSizeF size, double line, double digit, double legend_height)
    : page_(page), line_(line), digit_(digit) {
  title = {kMargin, kMargin / 2, std::max(10.0, size.width() - 2 * kMargin), line + 4};
  legend = {kMargin, size.height() - legend_height - kMargin, title.width(), legend_height};
  area_ = {kMargin, title.bottom() + kMargin / 2, title.width(),
           std::max(20.0, legend.top() - title.bottom() - kMargin)};
  int32_t columns = 1;
  double stacked = 0;
  for (const PlaceLane& lane : page.layout.lanes) {
    bands_.push_back(bands_of(lane, size.width(), digit));
    lane_tops_.push_back(stacked);
    columns = std::max(columns, bands_.back().columns);
    stacked += lane.rows * bands_.back().count;
  }
  // With a single band, no edge leaves the last column: its card ends with the room.
  const bool has_bands = std::ranges::any_of(bands_, [](const Bands& bands) { return bands.count > 1; });
  slot_width_ = area_.width() / (has_bands ? columns : columns - 1 + kCardShare);
  stacked = std::max(1.0, stacked);
  slot_height_ = std::min(area_.height(), std::max(stacked * kTallest, kTallestShare * area_.height())) / stacked;
  for (const RouterPlace& place : page.layout.places) {
    const QRectF room = slot(place.column, place.row);
    cards_.emplace_back(room.left(), room.top() + room.height() * (1 - kCardHeight) / 2, room.width() * kCardShare,
                        room.height() * kCardHeight);
  }
  lay_edges();
}

int32_t GraphLayout::band(int32_t column, int32_t row) const {
  return column / bands_[page_.layout.lane_of(row)].columns;
}

QRectF GraphLayout::slot(int32_t column, int32_t row) const {
  const size_t number = page_.layout.lane_of(row);
  const PlaceLane& lane = page_.layout.lanes[number];
  const int32_t columns = bands_[number].columns, across = column / columns;
  return {area_.left() + (column % columns) * slot_width_,
          area_.top() + (lane_tops_[number] + across * lane.rows + (row - lane.first_row)) * slot_height_, slot_width_,
          slot_height_};
}

QRectF GraphLayout::head(size_t number) const {
  const QRectF& c = cards_[number];
  return {c.left(), c.top(), c.width(), std::min(line_ + 2, c.height())};
}

QRectF GraphLayout::row(size_t card, size_t row) const {
  const QRectF inside = cards_[card].adjusted(3, head(card).height() + 2, -3, -2);
  const double each = inside.height() / static_cast<double>(std::max<size_t>(1, page_.cards[card].rows.size()));
  const double name = row_name(card, row).width();
  return {inside.left() + name, inside.top() + each * static_cast<double>(row), inside.width() - name,
          std::max(0.0, each - 2)};
}

QRectF GraphLayout::row_name(size_t card, size_t row) const {
  const QRectF inside = cards_[card].adjusted(3, head(card).height() + 2, -3, -2);
  const std::vector<GraphRow>& rows = page_.cards[card].rows;
  double wanted = 0;
  for (const GraphRow& r : rows)
    if (!r.name.isEmpty()) wanted = std::max(wanted, static_cast<double>(r.name.size()) * digit_ + kNameGap);
  const double each = inside.height() / static_cast<double>(std::max<size_t>(1, rows.size()));
  if (wanted == 0 || wanted > 0.6 * inside.width() || each < line_ - 2) return {};
  return {inside.left(), inside.top() + each * static_cast<double>(row), wanted, each - 2};
}

QRectF GraphLayout::square(const SquareAt& at) const {
  const QRectF room = row(at.card, at.row);
  const size_t squares = page_.cards[at.card].rows[at.row].squares.size();
  const int columns = square_columns(room, squares), lines = (static_cast<int>(squares) + columns - 1) / columns;
  const double wide = room.width() / columns, high = room.height() / lines;
  const int number = at.square;
  return {room.left() + (number % columns) * wide, room.top() + (number / columns) * high,
          std::max(1.0, wide - kSquareGap), std::max(1.0, high - kSquareGap)};
}

double GraphLayout::edge_width(size_t number) const {
  if (page_.most_cells == 0) return 1;
  const double most = std::clamp(slot_height_ / 12, 2.0, 8.0);
  return 1 + (most - 1) * static_cast<double>(page_.layout.edges[number].cells) / page_.most_cells;
}

void GraphLayout::lay_edges() {
  const std::vector<PlaceEdge>& edges = page_.layout.edges;
  // Edges leave a card, and come to one, in the order of the rows at their other ends, so that they do not cross at
  // once.
  const auto port = [&](size_t number, bool leaves) {
    const PlaceEdge& e = edges[number];
    const int32_t at = leaves ? e.from : e.to;
    const auto other = [&](const PlaceEdge& k) {
      const int32_t direct = page_.place(static_cast<size_t>(leaves ? k.to : k.from)).row;
      return k.detour.empty() ? direct : leaves ? k.detour.front() : k.detour.back();
    };
    int before = 0, count = 0;
    for (size_t i = 0; i < edges.size(); ++i) {
      if ((leaves ? edges[i].from : edges[i].to) != at) continue;
      ++count;
      if (std::pair(other(edges[i]), i) < std::pair(other(e), number)) ++before;
    }
    const QRectF& card = cards_[at];
    return QPointF(leaves ? card.right() : card.left(), card.top() + card.height() * (before + 1) / (count + 1));
  };
  const auto curve = [](QPainterPath& path, QPointF to) {
    const QPointF from = path.currentPosition();
    const double bend = std::max(6.0, std::abs(to.x() - from.x()) / 2);
    path.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
  };
  for (size_t i = 0; i < edges.size(); ++i) {
    const PlaceEdge& e = edges[i];
    const RouterPlace &from = page_.place(static_cast<size_t>(e.from)), &to = page_.place(static_cast<size_t>(e.to));
    QPainterPath path(port(i, true));
    if (to.column <= from.column) {
      curve(path, port(i, false));
      edges_.push_back(std::move(path));
      continue;
    }
    int32_t column = from.column, row = from.row;
    // Goes to the next column; if that is in another band, out at the right and in again at the left.
    const auto go = [&](int32_t next_row, QPointF point) {
      if (band(column, row) != band(column + 1, next_row)) {
        const QRectF last = slot(column, row);
        curve(path, {last.left() + slot_width_ * 0.93, path.currentPosition().y()});
        path.moveTo(slot(column + 1, next_row).left() - kMargin / 2, point.y());
      }
      curve(path, point);
      ++column, row = next_row;
    };
    for (const int32_t detour : e.detour) {
      const QRectF room = slot(column + 1, detour);
      go(detour, {room.left(), room.center().y()});
      path.lineTo(room.left() + room.width() * kCardShare, room.center().y());
    }
    go(to.row, port(i, false));
    edges_.push_back(std::move(path));
  }
}

std::optional<size_t> GraphLayout::card_at(QPointF point) const {
  for (size_t c = 0; c < cards_.size(); ++c)
    if (cards_[c].contains(point)) return c;
  return {};
}

std::optional<SquareAt> GraphLayout::square_at(QPointF point) const {
  const auto card = card_at(point);
  if (!card) return {};
  for (size_t r = 0; r < page_.cards[*card].rows.size(); ++r)
    for (size_t s = 0; s < page_.cards[*card].rows[r].squares.size(); ++s)
      if (square({*card, r, s}).contains(point)) return SquareAt{*card, r, s};
  return {};
}

std::optional<size_t> GraphLayout::edge_at(QPointF point) const {
  const QRectF near(point - QPointF(3, 3), QSizeF(6, 6));
  // The uppermost, as they are painted: the last one.
  for (size_t e = edges_.size(); e-- > 0;) {
    if (!edges_[e].boundingRect().adjusted(-6, -6, 6, 6).contains(point)) continue;
    QPainterPathStroker stroker;
    stroker.setWidth(edge_width(e));
    if (stroker.createStroke(edges_[e]).intersects(near)) return e;
  }
  return {};
}

}  // namespace stormcell::views
