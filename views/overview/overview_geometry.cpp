#include "views/overview/overview_geometry.h"

#include <algorithm>

namespace stormcell::views {
namespace {

// Heights and widths in lines of text.
constexpr double kTitle = 2.4, kFigureRow = 2.4, kPassRow = 3.4, kRouterRow = 1.6, kAxis = 2.2, kNarrow = 62;

/// Gaps between cards, and below the last ones to the end of the page.
constexpr double kCardGap = 0.8, kFoot = 1.4;

double figures_height(const OverviewContent& c) { return (kTitle + 1.9 + kFigureRow * c.figures) * c.unit; }
double chart_height(const OverviewContent& c) {
  return (kTitle + 1.9 + (c.waterfall ? kPassRow : kRouterRow) * c.chart_rows + (c.waterfall ? kAxis : 0.6)) * c.unit;
}

}  // namespace

double OverviewGeometry::hero_height() const {
  return (2.2 + kTitle + value_height_ - 0.2 + (content_.interval ? 4.0 : 1.6) + 2.2 + 1.25 * content_.proof_lines) *
         content_.unit;
}

double OverviewGeometry::steps_height(double width) const {
  return content_.steps_height ? content_.steps_height(card_text_width(width)) + (kTitle + 1.1) * content_.unit : 0;
}

double OverviewGeometry::place_columns(double top, double margin, double inner) {
  const double u = content_.unit, gap = kCardGap * u, narrow = 0.38 * (inner - gap), wide = inner - gap - narrow,
               right = margin + narrow + gap;
  double upper_left = hero_height(), upper_right = figures_height(content_), lower_left = steps_height(narrow),
         lower_right = chart_height(content_);
  const double in_rows = std::max(upper_left, upper_right) + gap + std::max(lower_left, lower_right) + gap;
  if (content_.room == 0 || top + in_rows + kFoot * u <= content_.room) {
    // A large window is not left half empty below a few cards.
    constexpr double kFilled = 0.75;
    const double more = std::max(0.0, kFilled * content_.room - top - in_rows) / 2;
    upper_left = upper_right = std::max(upper_left, upper_right) + more;
    lower_left = lower_right = std::max(lower_left, lower_right) + more;
  } else {
    // In a low window the next steps come before the last figures, so that their buttons are visible at once. Text has
    // room to spare in the result's card.
    value_height_ = 2.8;
    upper_left = hero_height() - u;
    lower_right = std::max(lower_right, upper_left + lower_left - upper_right);
  }
  hero_ = {margin, top, narrow, upper_left};
  figures_ = {right, top, wide, upper_right};
  steps_ = {margin, hero_.bottom() + gap, narrow, lower_left};
  chart_ = {right, figures_.bottom() + gap, wide, lower_right};
  return std::max(steps_.bottom(), chart_.bottom()) + gap;
}

OverviewGeometry::OverviewGeometry(double width, const OverviewContent& content) : content_(content) {
  const double u = content_.unit, margin = 1.4 * u, gap = kCardGap * u, inner = std::max(10 * u, width - 2 * margin);
  two_columns_ = width >= kNarrow * u;
  // Narrow pages need two lines for what wide ones say in one.
  const double second_line = two_columns_ ? 0 : 1.3 * u;
  header_ = {margin, 0.7 * u, inner, 5.4 * u + second_line};
  double y = header_.bottom() + 0.4 * u;
  notes_ = {margin, y, inner, 1.5 * u * content_.notes};
  if (content_.notes > 0) y = notes_.bottom() + 0.6 * u;

  if (two_columns_) {
    y = place_columns(y, margin, inner);
  } else {
    hero_ = {margin, y, inner, hero_height()}, y += hero_.height() + gap;
    figures_ = {margin, y, inner, figures_height(content_)}, y += figures_.height() + gap;
    chart_ = {margin, y, inner, chart_height(content_)}, y += chart_.height() + gap;
    steps_ = {margin, y, inner, steps_height(inner)}, y += steps_.height() + gap;
  }
  footer_ = {margin, y - 0.4 * u, inner, 1.4 * u + second_line};
  height_ = footer_.bottom() + 0.4 * u;
}

QRectF OverviewGeometry::steps_inside() const {
  return steps_.adjusted(padding(), (kTitle + 0.4) * unit(), -padding(), -0.6 * unit());
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
