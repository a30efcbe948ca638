#include "views/overview/overview_geometry.h"

#include <algorithm>

namespace stormcell::views {
namespace {

// In lines of text.
constexpr double kTitle = 2.4, kFigureRow = 2.4, kPassRow = 3.4, kRouterRow = 1.6, kAxis = 2.2, kNarrow = 62;

}  // namespace

OverviewGeometry::OverviewGeometry(double width, const OverviewContent& content) : content_(content) {
  const double u = content_.unit, margin = 1.4 * u, gap = 0.8 * u, inner = std::max(10 * u, width - 2 * margin);
  two_columns_ = width >= kNarrow * u;
  // Narrow pages need two lines for what wide ones say in one.
  const double second_line = two_columns_ ? 0 : 1.3 * u;
  header_ = {margin, 0.7 * u, inner, 5.4 * u + second_line};
  double y = header_.bottom() + 0.4 * u;
  notes_ = {margin, y, inner, 1.5 * u * content_.notes};
  if (content_.notes > 0) y = notes_.bottom() + 0.6 * u;

  const double hero_height =
      (2.2 + kTitle + 4.4 + (content_.interval ? 4.0 : 1.6) + 2.2 + 1.25 * content_.proof_lines) * u;
  const double figures_height = (kTitle + 1.9 + kFigureRow * content_.figures) * u;
  const double chart_height = (kTitle + 1.9 + (content_.waterfall ? kPassRow : kRouterRow) * content_.chart_rows +
                               (content_.waterfall ? kAxis : 0.6)) *
                              u;
  const double narrow = two_columns_ ? 0.38 * (inner - gap) : inner, wide = two_columns_ ? inner - gap - narrow : inner;
  const auto steps_height = [&](double w) {
    return content_.steps_height ? content_.steps_height(card_text_width(w)) + (kTitle + 1.7) * u : 0;
  };
  if (two_columns_) {
    const double first = std::max(hero_height, figures_height), second = std::max(chart_height, steps_height(narrow));
    hero_ = {margin, y, narrow, first};
    figures_ = {margin + narrow + gap, y, wide, first};
    y += first + gap;
    steps_ = {margin, y, narrow, second};
    chart_ = {margin + narrow + gap, y, wide, second};
    y += second + gap;
  } else {
    hero_ = {margin, y, inner, hero_height}, y += hero_height + gap;
    figures_ = {margin, y, inner, figures_height}, y += figures_height + gap;
    chart_ = {margin, y, inner, chart_height}, y += chart_height + gap;
    steps_ = {margin, y, inner, steps_height(inner)}, y += steps_.height() + gap;
  }
  footer_ = {margin, y - 0.4 * u, inner, 1.4 * u + second_line};
  height_ = footer_.bottom() + 0.4 * u;
}

QRectF OverviewGeometry::steps_inside() const {
  return steps_.adjusted(padding(), (kTitle + 0.9) * unit(), -padding(), -0.6 * unit());
}

QRectF OverviewGeometry::figure_row(int row) const {
  const double top = figures_.top() + (kTitle + 1.4) * unit(), room = figures_.bottom() - 0.7 * unit() - top;
  // A taller neighbour leaves room: rows share it, up to a point.
  const double each = std::min(room / std::max(1, content_.figures), 1.35 * kFigureRow * unit());
  return {figures_.left() + padding(), top + row * each, card_text_width(figures_.width()), each};
}

QRectF OverviewGeometry::chart_row(int row) const {
  const double least = (content_.waterfall ? kPassRow : kRouterRow) * unit(),
               below = (content_.waterfall ? kAxis : 0.6) * unit();
  const double room = chart_.bottom() - below - chart_.top() - (kTitle + 0.9) * unit();
  const double each = std::clamp(room / std::max(1, content_.chart_rows), least, 1.35 * least);
  return {chart_.left() + padding(), chart_.top() + (kTitle + 0.9) * unit() + row * each,
          card_text_width(chart_.width()), each};
}

QRectF OverviewGeometry::chart_area() const {
  const QRectF first = chart_row(0);
  const double labels = std::min(0.42 * first.width(), 24 * unit()), values = 4.2 * unit();
  const double bottom = content_.chart_rows > 0 ? chart_row(content_.chart_rows - 1).bottom() : first.top();
  return {first.left() + labels, first.top(), first.width() - labels - values, bottom - first.top()};
}

}  // namespace stormcell::views
