#include "views/exits/exits_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {
constexpr double kExitsGap = 6;
constexpr double kBarLines = 2.2;  // height of a bar at most, in lines; twice that where there is no curve
}  // namespace

ExitsLayout::ExitsLayout(const ExitsPage& page, QSizeF size, double line, double digit)
    : page_(page), line_(line), digit_(digit) {
  const double wide = std::max(40.0, size.width() - 3 * kMargin), left = 0.42 * wide;
  headline = {kMargin, kMargin / 2, wide + kMargin, 2 * line};
  const double top = headline.bottom() + line + 2 * kExitsGap, high = std::max(40.0, size.height() - top - kMargin);
  const double right = kMargin * 2 + left;
  double below = 0;
  if (page.has_curve()) {
    const double upper = 0.5 * (high - 2 * line), axis = 9 * digit, end = 3 * digit;  // room for the marks of the axes
    bars = {kMargin, top, left, upper};
    plot = {right + axis, top, std::max(20.0, wide - left - axis - end), std::max(20.0, upper - 1.5 * line)};
    below = top + upper + 2 * line;
  } else {
    place_without_curve(top, wide + kMargin, high);
    below = plot.bottom() + 2 * line;
  }
  const QRectF rest(kMargin, below, wide + kMargin, std::max(0.0, size.height() - below - kMargin));
  if (page.gallery.empty()) {
    gallery = {rest.left(), rest.bottom() - line, rest.width(), line};  // its note
    classes = rest.adjusted(0, 0, 0, -std::min(rest.height(), line + kExitsGap));
  } else if (page.classes.empty()) {
    gallery = rest;
  } else {
    classes = {kMargin, below, left, rest.height()};
    gallery = {right, below, wide - left, rest.height()};
  }
  labels_ = std::min(left / 3, 14 * digit);
  std::vector<double> values;
  for (const ShownPoint& p : page.points) {
    values.push_back(p.value);
    if (p.interval) values.insert(values.end(), p.interval->begin(), p.interval->end());
  }
  if (page.target_value) values.push_back(*page.target_value);
  // The axis starts a line of pixels from below: larger values are higher.
  values_ = ValueAxis::around(values, 0, plot.height(), 0.01);
  ticks_ = values_.ticks(std::max(2, static_cast<int>(plot.height() / (3 * line))));
  place_gallery();
}

void ExitsLayout::place_without_curve(double top, double wide, double high) {
  constexpr double kShort = 100;  // digits in a line in which the note takes more than its two lines
  const double note_lines =
      std::min(wide > kShort * digit_ ? 2.0 : 4.0, std::max(1.0, std::floor(0.25 * high / line_)));
  const double note = page_.no_curve.isEmpty() ? 0 : note_lines * line_;
  const bool alone = page_.classes.empty() && page_.gallery.empty();
  const auto bars_high = [&](double lines) {
    return static_cast<double>(page_.exits.size()) * (lines * line_ + kExitsGap);
  };
  const double upper =
      alone ? high - note - kExitsGap - 3 * line_
            : std::min({bars_high(2 * kBarLines), 0.4 * high, std::max(bars_high(kBarLines), 0.3 * high)});
  bars = {kMargin, top, wide, std::max(20.0, upper)};
  plot = {kMargin, bars.bottom() + kExitsGap, wide, note};
}

void ExitsLayout::place_gallery() {
  const size_t exits = page_.exits.size();
  tiles_.resize(page_.gallery.size());
  rows_.resize(exits);
  std::vector<int> items(exits, 0), lines(exits, 0), used(exits, 0);
  bool wrong = false;
  for (const ExitItem& item : page_.gallery) {
    if (static_cast<size_t>(item.exit) < exits) ++items[item.exit];
    wrong |= item.wrong;
  }
  // The last line is the note's.
  const double room = std::max(0.0, gallery.height() - line_);
  const double head = std::min(line_ + 2, room / static_cast<double>(std::max<size_t>(1, exits)));
  const auto taking = std::count_if(items.begin(), items.end(), [](int of) { return of > 0; });
  double left = room - head * static_cast<double>(exits);
  // Pictures are squares, three lines high if there is room for one of each exit, with a line below them for wrong
  // answers.
  const bool pictures = !page_.pictures.empty();
  const double below = 4 + (pictures && wrong ? line_ : 0);
  const double each = left / static_cast<double>(std::max<std::ptrdiff_t>(1, taking)) - below;
  const double side_high = pictures ? std::clamp(each, line_ + 4, 3 * line_) : line_ + 4,
               side_wide = pictures ? side_high : 7 * digit_;
  const double high = side_high + below;
  const int columns = std::max(1, static_cast<int>(gallery.width() / (side_wide + 4)));
  // Exits take lines in turn, until nothing is left of the room or of the items.
  for (bool more = true; more;) {
    more = false;
    for (size_t e = 0; e < exits; ++e) {
      if (left < high || lines[e] * columns >= items[e]) continue;
      ++lines[e], left -= high;
      more = true;
    }
  }
  double top = gallery.top();
  for (size_t e = 0; e < exits; ++e) {
    rows_[e] = {gallery.left(), top, gallery.width(), head + high * lines[e]};
    top = rows_[e].bottom();
  }
  for (size_t i = 0; i < tiles_.size(); ++i) {
    const size_t exit = page_.gallery[i].exit;
    if (exit >= exits) continue;
    const int number = used[exit]++, line = number / columns;
    if (line >= lines[exit]) continue;
    const QRectF& row = rows_[exit];
    tiles_[i] = {row.left() + (number % columns) * (side_wide + 4), row.top() + head + line * high, side_wide,
                 side_high};
  }
}

QRectF ExitsLayout::bar(size_t exit, double share) const {
  const double each = bars.height() / static_cast<double>(std::max<size_t>(1, page_.exits.size()));
  const double high =
      std::min(each - std::min(kExitsGap, each / 4), (page_.has_curve() ? kBarLines : 2 * kBarLines) * line_);
  const double room = bars.width() - labels_ - 8 * digit_;
  return {bars.left() + labels_, bars.top() + each * static_cast<double>(exit), std::max(0.0, room * share),
          std::max(2.0, high)};
}

QPointF ExitsLayout::at(double cost, double value) const {
  return {plot.left() + std::clamp(cost, 0.0, 1.0) * plot.width(), plot.bottom() - values_.x(value)};
}

QPointF ExitsLayout::point(size_t number) const { return at(page_.points[number].cost, page_.points[number].value); }

std::optional<size_t> ExitsLayout::point_near(QPointF place) const {
  if (!page_.has_curve() || !plot.adjusted(-8, -8, 8, 8).contains(place)) return {};
  size_t nearest = 1;
  for (size_t p = 2; p < page_.points.size(); ++p)
    if (std::fabs(point(p).x() - place.x()) < std::fabs(point(nearest).x() - place.x())) nearest = p;
  return nearest;
}

size_t ExitsLayout::shown_classes() const {
  const auto fit = static_cast<size_t>(std::max(0.0, classes.height() / (line_ + 3)));
  return std::min(fit, page_.classes.size());
}

QRectF ExitsLayout::class_row(size_t number) const {
  const double each =
      std::min(classes.height() / static_cast<double>(std::max<size_t>(1, shown_classes())), 1.6 * line_);
  return {classes.left(), classes.top() + each * static_cast<double>(number), classes.width(), each - 2};
}

QRectF ExitsLayout::class_part(size_t number, size_t exit) const {
  const QRectF row = class_row(number);
  const std::vector<int64_t>& items = page_.classes[number].items;
  double all = 0, before = 0;
  for (size_t e = 0; e < items.size(); ++e) {
    all += static_cast<double>(items[e]);
    if (e < exit) before += static_cast<double>(items[e]);
  }
  if (all <= 0) return {};
  const double room = row.width() - labels_;
  return {row.left() + labels_ + room * before / all, row.top(), room * static_cast<double>(items[exit]) / all,
          row.height()};
}

std::optional<size_t> ExitsLayout::item_at(QPointF place) const {
  for (size_t i = 0; i < tiles_.size(); ++i)
    if (tiles_[i].contains(place)) return i;
  return {};
}

}  // namespace stormcell::views
