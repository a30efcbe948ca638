#include "views/simulation/simulation_geometry.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {

constexpr double kSimulationGap = 6;

/// Breaks lines at blanks, so that none has more than `most` characters if words allow it.
QStringList wrapped(const QString& text, qsizetype most, const QString& indent) {
  QStringList lines;
  QString line;
  for (const QString& word : text.split(' ')) {
    if (!line.isEmpty() && line.size() + 1 + word.size() > most) lines << line, line = indent;
    line += (line.isEmpty() || line == indent ? QString() : QString(" ")) + word;
  }
  return lines << line;
}

double largest_sum(const std::vector<PhaseTimes>& times) {
  double most = 0;
  for (const PhaseTimes& t : times) most = std::max(most, t.sum());
  return most;
}

}  // namespace

SimulationLayout::SimulationLayout(const SimulationPage& page, QSizeF size, double line, double digit)
    : page_(page), line_(line), digit_(digit) {
  const double width = size.width() - 2 * kMargin;
  contents = {kMargin, kMargin / 2, width, line};
  headline = {kMargin, contents.bottom(), width, 2 * line};
  legend = {kMargin, headline.bottom() + 2, width, line};
  // Letters are narrower than digits as a mean.
  const auto columns = static_cast<qsizetype>(std::max(20.0, width / digit));
  for (const QString& text : page.assumptions)
    assumed_lines += wrapped(QString(QChar(0x2022)) + " " + text, columns, "   ");
  const auto fits = static_cast<qsizetype>(std::max(2.0, 0.3 * size.height() / line));
  if (assumed_lines.size() + 1 > fits) assumed_lines = assumed_lines.mid(0, fits - 1) << QString(QChar(0x2026));
  const double high = line * static_cast<double>(assumed_lines.size() + 1);
  assumed = {kMargin, size.height() - high - kMargin / 2, width, high};
  const double top = legend.bottom() + kSimulationGap, bottom = assumed.top() - kSimulationGap;

  const double side = std::clamp(0.36 * size.width(), 38 * digit, 56 * digit),
               left = std::max(80.0, width - side - 2 * kMargin);
  step = {kMargin, top + line + 2, left, line};
  const double charts = step.bottom() + kSimulationGap, each = std::max(40.0, (bottom - charts) / 2);
  layers = chart_in({kMargin, charts, left, each}, page.layers);
  gpus = chart_in({kMargin, charts + each, left, each}, page.gpus);
  const double beside = kMargin + left + 2 * kMargin;
  figures = {beside, top, side, (line + 3) * static_cast<double>(page.figures.size())};
  sensitivity = {beside, figures.bottom() + 2 * line, side, std::max(20.0, bottom - figures.bottom() - 2 * line)};

  clusters = {kMargin, top, width, std::max(40.0, bottom - top)};
  names_ = std::min(31 * digit, 0.34 * width), values_ = 26 * digit;
  for (const ShownCluster& c : page.clusters)
    if (c.fault.isEmpty()) most_cluster_ = std::max({most_cluster_, c.step.phases.sum(), c.step.p95_ms});
  const QRectF room = cluster_room(0);
  if (most_cluster_ > 0)
    cluster_ticks = ValueAxis{0, most_cluster_, 0, room.width() - values_}.ticks(
        std::max(2, static_cast<int>(room.width() / (14 * digit))));
}

PhaseRooms SimulationLayout::parts_in(QRectF room, const PhaseTimes& times, double most) {
  PhaseRooms out;
  double x = room.left();
  const std::array<double, 4> ms = {times.dispatch_ms, times.compute_ms, times.combine_ms, times.rest_ms};
  for (size_t i = 0; i < ms.size(); ++i) {
    const double wide = most > 0 ? room.width() * ms[i] / most : 0;
    out[i] = {x, room.top(), wide, room.height()};
    x += wide;
  }
  return out;
}

QRectF SimulationLayout::overlap_in(QRectF room, const StepTimes& step, double most) {
  if (step.overlapped_ms() <= 0 || most <= 0) return {};
  const double from = room.left() + room.width() * step.mean_ms / most,
               to = room.left() + room.width() * step.phases.sum() / most;
  return {from, room.top(), to - from, room.height()};
}

BarChart SimulationLayout::chart_in(QRectF room, const std::vector<PhaseTimes>& times) const {
  BarChart chart;
  chart.title = {room.left(), room.top(), room.width(), line_};
  chart.plot = room.adjusted(10 * digit_, 1.5 * line_, 0, -1.2 * line_);
  chart.plot.setSize({std::max(10.0, chart.plot.width()), std::max(8.0, chart.plot.height())});
  const double most = largest_sum(times);
  chart.axis = {0, most > 0 ? 1.05 * most : 1, 0, chart.plot.height()};
  chart.ticks = chart.axis.ticks(std::max(1, static_cast<int>(chart.plot.height() / (1.6 * line_))));
  const double wide =
      times.empty() ? chart.plot.width() : std::min(chart.plot.width() / static_cast<double>(times.size()), 7 * digit_);
  const double number =
      digit_ * (std::floor(std::log10(std::max<double>(1, static_cast<double>(times.size()) - 1))) + 2);
  while (wide * chart.every < number) chart.every *= 2;
  return chart;
}

QRectF SimulationLayout::bar(const BarChart& chart, size_t number) const {
  const double wide =
      std::min(chart.plot.width() / static_cast<double>(std::max<size_t>(1, times_of(chart).size())), 7 * digit_);
  return {chart.plot.left() + wide * static_cast<double>(number), chart.plot.top(), wide, chart.plot.height()};
}

PhaseRooms SimulationLayout::bar_parts(const BarChart& chart, size_t number) const {
  const PhaseTimes& t = times_of(chart)[number];
  const QRectF column = bar(chart, number);
  const double gap = column.width() > 5 ? 1 : 0, scale = chart.plot.height() / chart.axis.high;
  PhaseRooms out;
  double y = column.bottom();
  const std::array<double, 4> ms = {t.dispatch_ms, t.compute_ms, t.combine_ms, t.rest_ms};
  for (size_t i = 0; i < ms.size(); ++i) {
    y -= ms[i] * scale;
    out[i] = {column.left() + gap, y, column.width() - 2 * gap, ms[i] * scale};
  }
  return out;
}

double SimulationLayout::tick(const BarChart& chart, double ms) const { return chart.plot.bottom() - chart.axis.x(ms); }

std::optional<size_t> SimulationLayout::bar_at(const BarChart& chart, QPointF place) const {
  for (size_t i = 0; i < times_of(chart).size(); ++i)
    if (bar(chart, i).contains(place)) return i;
  return {};
}

QRectF SimulationLayout::figure_row(size_t number) const {
  return {figures.left(), figures.top() + (line_ + 3) * static_cast<double>(number), figures.width(), line_ + 3};
}

QRectF SimulationLayout::sensitivity_row(size_t number) const {
  const double rows = std::max<size_t>(1, page_.sensitivity.size());
  const double high = std::clamp(sensitivity.height() / rows, line_ + 1, line_ + 6);
  return {sensitivity.left(), sensitivity.top() + high * static_cast<double>(number), sensitivity.width(), high};
}

size_t SimulationLayout::shown_sensitivity() const {
  const auto fits = static_cast<size_t>(std::max(0.0, sensitivity.height() / sensitivity_row(0).height()));
  return std::min(fits, page_.sensitivity.size());
}

QRectF SimulationLayout::sensitivity_name(size_t number) const {
  const QRectF row = sensitivity_row(number);
  return {row.left(), row.top(), std::min(20 * digit_, 0.5 * row.width()), row.height()};
}

namespace {
constexpr double kAside = 4;     // between a bar and its value
constexpr qsizetype kUsual = 9;  // characters of a value; "+0.00978 %" has one more
/// An axis from the least to the largest change of the step, including 0, with room for a value at both ends.
ValueAxis sensitivity_axis(const SimulationPage& page, QRectF room, double digit) {
  ValueAxis axis{0, 0, room.left(), room.right()};
  for (const ShownSensitivity& s : page.sensitivity)
    axis.low = std::min(axis.low, s.percent), axis.high = std::max(axis.high, s.percent);
  if (axis.low == axis.high) axis.low = -1, axis.high = 1;
  qsizetype longest = 0;
  for (const ShownSensitivity& s : page.sensitivity) longest = std::max(longest, percent_change_text(s.percent).size());
  const double value =
      longest > kUsual ? static_cast<double>(longest) * digit + kAside : static_cast<double>(kUsual) * digit;
  const double plain = std::max(10.0, room.width() - 2 * value), range = axis.high - axis.low;
  axis.low -= range * value / plain, axis.high += range * value / plain;
  return axis;
}
}  // namespace

double SimulationLayout::sensitivity_zero() const {
  const QRectF row = sensitivity_row(0), name = sensitivity_name(0);
  return sensitivity_axis(page_, {name.right(), row.top(), row.right() - name.right(), row.height()}, digit_).x(0);
}

QRectF SimulationLayout::sensitivity_bar(size_t number) const {
  const QRectF row = sensitivity_row(number), name = sensitivity_name(number);
  const ValueAxis axis =
      sensitivity_axis(page_, {name.right(), row.top(), row.right() - name.right(), row.height()}, digit_);
  const double from = axis.x(0), to = axis.x(page_.sensitivity[number].percent);
  return {std::min(from, to), row.top() + 2, std::fabs(to - from), row.height() - 4};
}

QRectF SimulationLayout::sensitivity_value(size_t number) const {
  const QRectF row = sensitivity_row(number), name = sensitivity_name(number), bar = sensitivity_bar(number);
  const bool less = page_.sensitivity[number].percent < 0;
  const double left = less ? name.right() : bar.right() + kAside, right = less ? bar.left() - kAside : row.right();
  return {left, row.top(), std::max(0.0, right - left), row.height()};
}

QRectF SimulationLayout::cluster_row(size_t number) const {
  const double title = line_ + 2, axis = 1.5 * line_;
  const double rows = std::max<size_t>(1, page_.clusters.size());
  const double high = std::max(1.0, std::min(3.4 * line_, (clusters.height() - title - axis) / rows));
  return {clusters.left(), clusters.top() + title + high * static_cast<double>(number), clusters.width(), high};
}

QRectF SimulationLayout::cluster_name(size_t number) const {
  const QRectF row = cluster_row(number);
  return {row.left(), row.top(), names_, row.height()};
}

QRectF SimulationLayout::cluster_room(size_t number) const {
  const QRectF row = cluster_row(number);
  return row.adjusted(names_ + kSimulationGap, 0, 0, 0);
}

double SimulationLayout::cluster_x(double ms) const {
  const QRectF room = cluster_room(0);
  return room.left() + (most_cluster_ > 0 ? (room.width() - values_) * ms / most_cluster_ : 0);
}

PhaseRooms SimulationLayout::cluster_parts(size_t number) const {
  const QRectF room = cluster_room(number);
  const double pad = 0.22 * room.height();
  return parts_in({room.left(), room.top() + pad, room.width() - values_, room.height() - 2 * pad},
                  page_.clusters[number].step.phases, most_cluster_);
}

QRectF SimulationLayout::cluster_overlap(size_t number) const {
  const QRectF room = cluster_room(number);
  const double pad = 0.22 * room.height();
  return overlap_in({room.left(), room.top() + pad, room.width() - values_, room.height() - 2 * pad},
                    page_.clusters[number].step, most_cluster_);
}

std::optional<size_t> SimulationLayout::cluster_at(QPointF place) const {
  for (size_t c = 0; c < page_.clusters.size(); ++c)
    if (cluster_row(c).contains(place)) return c;
  return {};
}

QRectF SimulationLayout::exchange_title(size_t number) const {
  const double wide = (clusters.width() - 2 * kMargin) / 2;
  return {clusters.left() + static_cast<double>(number) * (wide + 2 * kMargin), clusters.top(), wide, 2 * line_};
}

QRectF SimulationLayout::exchange(size_t number) const {
  const QRectF title = exchange_title(number);
  const double top = title.bottom() + 0.5 * line_;
  return {title.left() + 14 * digit_, top, std::max(10.0, title.width() - 16 * digit_),
          std::max(10.0, clusters.bottom() - top - 1.5 * line_)};
}

size_t SimulationLayout::lanes(size_t number) const {
  const ShownExchange& e = page_.exchanges[number];
  return page_.part == SimulationPart::messages ? e.sent.size() : e.lanes.size();
}

QRectF SimulationLayout::lane(size_t number, size_t lane) const {
  const QRectF plot = exchange(number);
  const double high = std::min(5 * line_, plot.height() / static_cast<double>(std::max<size_t>(1, lanes(number))));
  return {plot.left(), plot.top() + high * static_cast<double>(lane), plot.width(), high};
}

QRectF SimulationLayout::lane_name(size_t number, size_t lane) const {
  const QRectF row = this->lane(number, lane);
  size_t every = 1;
  while (row.height() * static_cast<double>(every) < line_) every *= 2;
  if (lane % every != 0) return {};
  return {row.left() - 14 * digit_, row.center().y() - line_ / 2, 13.5 * digit_, line_};
}

double SimulationLayout::exchange_x(size_t number, double ms) const {
  const QRectF plot = exchange(number);
  const ShownExchange& e = page_.exchanges[number];
  return plot.left() + (e.end_ms > 0 ? plot.width() * std::min(1.0, ms / e.end_ms) : 0);
}

std::vector<double> SimulationLayout::exchange_ticks(size_t number) const {
  const QRectF plot = exchange(number);
  return ValueAxis{0, page_.exchanges[number].end_ms, 0, plot.width()}.ticks(
      std::max(2, static_cast<int>(plot.width() / (12 * digit_))));
}

std::optional<SimulationLayout::LaneSpan> SimulationLayout::lane_at(QPointF place) const {
  for (size_t e = 0; e < page_.exchanges.size(); ++e)
    for (size_t l = 0; l < lanes(e); ++l) {
      const QRectF row = lane(e, l);
      if (!row.contains(place)) continue;
      if (page_.part == SimulationPart::messages) return LaneSpan{e, l, 0};
      const double spans = page_.exchanges[e].lanes[l].sends.size();
      if (spans < 1) return {};
      const double at = (place.x() - row.left()) / row.width() * spans;
      return LaneSpan{e, l, static_cast<size_t>(std::clamp(at, 0.0, spans - 1))};
    }
  return {};
}

}  // namespace stormcell::views
