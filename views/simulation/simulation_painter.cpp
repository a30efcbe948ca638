#include "views/simulation/simulation_painter.h"

#include <QColor>
#include <QFontMetricsF>
#include <algorithm>
#include <functional>

#include "views/drawing/marks.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// Colours of dispatch, experts and combine; experts stand out.
QColor phase_color(size_t phase, const Theme& theme) { return theme.category(phase == 0 ? 0 : phase == 1 ? 1 : 2); }

/// Paler colour of phases by data sheets, beside calibrated ones.
QColor pale_color_of(size_t phase, const Theme& theme) {
  QColor color = phase_color(phase, theme);
  color.setAlphaF(0.35f);
  return color;
}

/// The rest is a pattern instead of a colour, because it is not simulated.
constexpr size_t kRestOfStep = 3;

void paint_rest(QPainter& p, QRectF where, const Theme& theme) {
  if (where.isEmpty()) return;
  p.fillRect(where, QBrush(theme.faint, Qt::Dense5Pattern));
  draw_frame(p, where, theme.faint, 1);
}

void paint_parts(QPainter& p, const PhaseRooms& parts, const Theme& theme) {
  for (size_t i = 0; i < kRestOfStep; ++i) p.fillRect(parts[i], phase_color(i, theme));
  paint_rest(p, parts[kRestOfStep], theme);
}

void paint_overlap(QPainter& p, QRectF where, const Theme& theme) {
  if (where.isEmpty()) return;
  p.fillRect(where, QBrush(theme.background, Qt::BDiagPattern));
  p.setPen(QPen(theme.text, 2));
  p.drawLine(QPointF(where.left(), where.top() - 2), QPointF(where.left(), where.bottom() + 2));
}

/// All ticks of an axis in one unit.
QString time_tick_text(double ms, std::vector<double> ticks) {
  constexpr double kMicro = 1e3;
  const bool micro = !ticks.empty() && ticks.back() < 0.2;
  for (double& t : ticks) t *= micro ? kMicro : 1;
  const QString number = QString::number(micro ? ms * kMicro : ms, 'f', ValueAxis::decimals(ticks));
  return micro ? tr("%1 \u00b5s").arg(number) : tr("%1 ms").arg(number);
}

double legend_item(QPainter& p, double x, QRectF room, const QString& text, const Theme& theme) {
  p.setPen(theme.faint);
  const double wide = QFontMetricsF(p.font()).horizontalAdvance(text);
  p.drawText(QRectF(x, room.top(), std::min(wide + 2, room.right() - x), room.height()),
             Qt::AlignLeft | Qt::AlignVCenter, text);
  return x + wide + 18;
}

/// The tones of rates within one line of text, with a figure at both ends and one for the tick in the middle. Returns
/// its end.
double paint_rate_scale(QPainter& p, double x, QRectF room, const Theme& theme) {
  constexpr double kTone = 6, kTones = 20, kGap = 4;
  const QFontMetricsF metrics(p.font());
  const double high = 0.7 * room.height();
  const auto say = [&](const QString& figure) {
    p.setPen(theme.faint);
    p.drawText(QRectF(x, room.top(), metrics.horizontalAdvance(figure) + 2, room.height()),
               Qt::AlignLeft | Qt::AlignVCenter, figure);
    x += metrics.horizontalAdvance(figure) + kGap;
  };
  say("0");
  const QRectF bar(x, room.center().y() - high / 2, kTone * kTones, high);
  for (int i = 0; i < static_cast<int>(kTones); ++i)
    p.fillRect(QRectF(bar.left() + kTone * i, bar.top(), kTone + 0.5, high), theme.sequential(i / (kTones - 1)));
  p.fillRect(QRectF(bar.center().x() - 0.5, bar.top() - 1, 1, high + 2), Theme::text_on(theme.sequential(0.5)));
  x = bar.right() + kGap;
  say(tr("100 % of the rate, tick: 50 %;"));
  return x;
}

void paint_simulation_head(QPainter& p, const SimulationPage& page, const SimulationLayout& layout,
                           const Theme& theme) {
  const QRectF first(layout.headline.topLeft(), QSizeF(layout.headline.width(), layout.line()));
  p.setPen(theme.text);
  QFont bold = p.font();
  bold.setBold(true);
  const QFont plain = p.font();
  p.setFont(bold);
  write_line(p, layout.contents, Qt::AlignLeft, page.contents);
  p.setFont(plain);
  write_line(p, first, Qt::AlignLeft, page.headline);
  p.setPen(theme.faint);
  write_line(p, first.translated(0, layout.line()), Qt::AlignLeft, page.about);
  const QRectF room = layout.legend;
  double x = room.left();
  const double side = 0.7 * layout.line(), y = room.center().y() - side / 2;
  if (page.part == SimulationPart::exchange) {
    x = paint_rate_scale(p, x, room, theme);
    x = legend_item(p, x, room, tr("above: sends, below: receives"), theme);
    p.setPen(QPen(theme.accent, 1.5, Qt::DashLine));
    p.drawLine(QPointF(x, y + side / 2), QPointF(x + 20, y + side / 2));
    legend_item(p, x + 26, room, tr("by ports alone"), theme);
    return;
  }
  if (page.part == SimulationPart::messages) {
    legend_item(p, x, room,
                tr("who sends to whom, a colour for each sender: from the first moment, at which all begin, until all "
                   "of it has come"),
                theme);
    return;
  }
  const QString names[] = {tr("dispatch"), tr("experts"), tr("combine")};
  for (size_t i = 0; i < 3; ++i) {
    p.fillRect(QRectF(x, y, side, side), phase_color(i, theme));
    x = legend_item(p, x + side + 5, room, names[i], theme);
  }
  if (page.step.phases.rest_ms > 0) {
    paint_rest(p, {x, y, side, side}, theme);
    x = legend_item(p, x + side + 5, room, tr("stated rest"), theme);
  }
  const bool overlaps = page.step.overlapped_ms() > 0;
  if (overlaps) {
    p.fillRect(QRectF(x, y, side, side), phase_color(1, theme));
    paint_overlap(p, {x, y, side, side}, theme);
    x = legend_item(p, x + side + 5, room, tr("lie over others, the mark is the step's end"), theme);
  }
  if (page.part == SimulationPart::clusters) {
    p.setPen(QPen(theme.text, 1.5));
    p.drawLine(QPointF(x, y + side / 2), QPointF(x + 16, y + side / 2));
    legend_item(p, x + 22, room, tr("median to 95 % of the steps"), theme);
  } else {
    draw_frame(p, {x, y, side, side}, theme.bad, 2);
    legend_item(p, x + side + 5, room, tr("computes longest"), theme);
  }
}

void paint_assumed(QPainter& p, const SimulationLayout& layout, const Theme& theme) {
  QRectF line(layout.assumed.topLeft(), QSizeF(layout.assumed.width(), layout.line()));
  p.setPen(theme.text);
  write_line(p, line, Qt::AlignLeft, tr("Assumed"));
  p.setPen(theme.faint);
  for (const QString& text : layout.assumed_lines) {
    line.translate(0, layout.line());
    write_line(p, line, Qt::AlignLeft, text);
  }
}

/// A title, and an addition that is shown if it has room.
struct ChartTitle {
  QString text, more;
};

void paint_chart(QPainter& p, const SimulationLayout& layout, const BarChart& chart, size_t bars,
                 const std::function<QString(size_t)>& name_of, const ChartTitle& title, const Theme& theme) {
  p.setPen(theme.text);
  const bool roomy = QFontMetricsF(p.font()).horizontalAdvance(title.text + title.more) <= chart.title.width();
  write_line(p, chart.title, Qt::AlignLeft, roomy ? title.text + title.more : title.text);
  for (const double ms : chart.ticks) {
    const double y = layout.tick(chart, ms);
    p.setPen(theme.grid);
    p.drawLine(QPointF(chart.plot.left(), y), QPointF(chart.plot.right(), y));
    p.setPen(theme.faint);
    p.drawText(
        QRectF(chart.title.left(), y - layout.line() / 2, chart.plot.left() - chart.title.left() - 5, layout.line()),
        Qt::AlignRight | Qt::AlignVCenter, time_tick_text(ms, chart.ticks));
  }
  for (size_t i = 0; i < bars; ++i) {
    paint_parts(p, layout.bar_parts(chart, i), theme);
    if (i % static_cast<size_t>(chart.every) != 0) continue;
    const QRectF column = layout.bar(chart, i);
    p.setPen(theme.faint);
    p.drawText(QRectF(column.center().x() - 30, column.bottom() + 1, 60, layout.line()),
               Qt::AlignHCenter | Qt::AlignTop, name_of(i));
  }
}

void paint_step_bars(QPainter& p, const SimulationPage& page, const SimulationLayout& layout,
                     const SimulationMarks& marks, const Theme& theme) {
  QString step = tr("A step, %1").arg(duration_text(page.step.mean_ms));
  if (page.step.overlapped_ms() > 0)
    step += tr("; %1 of its phases lie over others").arg(duration_text(page.step.overlapped_ms()));
  p.setPen(theme.text);
  write_line(p, layout.step.translated(0, -layout.line() - 2), Qt::AlignLeft, step);
  paint_parts(p, layout.step_parts(), theme);
  paint_overlap(p, layout.step_overlap(), theme);
  paint_chart(
      p, layout, layout.layers, page.layers.size(), [&](size_t l) { return QString::number(page.layer_numbers[l]); },
      {tr("By layer, mean over steps"), tr("; click one, or use the arrow keys")}, theme);
  if (page.layer < page.layers.size()) {
    const QRectF column = layout.bar(layout.layers, page.layer);
    draw_frame(p, column.adjusted(0.5, -2, -0.5, 1), theme.accent, 2);
  }
  const QString layer = page.layer_names.empty() ? QString() : page.layer_names[page.layer];
  const QString title = tr("By GPU, %1, each by itself").arg(layer);
  paint_chart(
      p, layout, layout.gpus, page.gpus.size(), [](size_t gpu) { return QString::number(gpu); },
      {title, tr("; as a mean GPU %1 computes longest, in a step it may be another").arg(page.slowest)}, theme);
  if (page.gpus.empty()) return;
  draw_frame(p, layout.bar_parts(layout.gpus, page.slowest)[1].adjusted(-1, -1, 1, 1), theme.bad, 2);
  if (marks.gpu && *marks.gpu < page.gpus.size())
    draw_frame(p, layout.bar(layout.gpus, *marks.gpu).adjusted(0.5, -2, -0.5, 1), theme.faint, 1, Qt::DotLine);
}

void paint_simulated_figures(QPainter& p, const SimulationPage& page, const SimulationLayout& layout,
                             const Theme& theme) {
  for (size_t i = 0; i < page.figures.size(); ++i) {
    const QRectF row = layout.figure_row(i);
    p.setPen(theme.faint);
    write_line(p, row, Qt::AlignLeft, page.figures[i].name);
    p.setPen(theme.text);
    write_line(p, row.adjusted(18 * layout.digit(), 0, 0, 0), Qt::AlignLeft, page.figures[i].value);
  }
}

void paint_sensitivity(QPainter& p, const SimulationPage& page, const SimulationLayout& layout, const Theme& theme) {
  const QRectF room = layout.sensitivity;
  p.setPen(theme.text);
  write_line(p, {room.left(), room.top() - layout.line() - 3, room.width(), layout.line()}, Qt::AlignLeft,
             tr("The step changes where a figure is 10 % larger"));
  for (size_t i = 0; i < layout.shown_sensitivity(); ++i) {
    const ShownSensitivity& s = page.sensitivity[i];
    const QRectF bar = layout.sensitivity_bar(i), name = layout.sensitivity_name(i);
    p.setPen(theme.faint);
    write_line(p, name, Qt::AlignLeft, s.figure);
    p.fillRect(bar, s.percent < 0 ? theme.good : theme.bad);
    p.setPen(theme.text);
    p.drawText(layout.sensitivity_value(i), (s.percent < 0 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
               percent_change_text(s.percent));
  }
  if (layout.shown_sensitivity() == 0) return;
  const double zero = layout.sensitivity_zero();
  p.setPen(QPen(theme.text, 1));
  p.drawLine(QPointF(zero, layout.sensitivity_row(0).top()),
             QPointF(zero, layout.sensitivity_row(layout.shown_sensitivity() - 1).bottom()));
}

void paint_cluster_steps(QPainter& p, const SimulationPage& page, const SimulationLayout& layout, size_t number,
                         const Theme& theme) {
  const ShownCluster& c = page.clusters[number];
  const QRectF name = layout.cluster_name(number), room = layout.cluster_room(number);
  const bool two_lines = name.height() >= 2 * layout.line();
  const double half = two_lines ? layout.line() : name.height();
  const double top = two_lines ? name.center().y() - layout.line() : name.top();
  if (!c.fault.isEmpty()) {
    p.setPen(theme.faint);
    write_line(p, name, Qt::AlignLeft, c.name);
    if (!two_lines) return write_line(p, room, Qt::AlignLeft, c.fault);
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, c.fault);
    return;
  }
  p.setPen(theme.text);
  write_line(p, {name.left(), top, name.width(), half}, Qt::AlignLeft, c.name);
  p.setPen(theme.faint);
  if (page.any_calibrated) {
    const double used = QFontMetricsF(p.font()).horizontalAdvance(c.name) + layout.digit();
    if (used < name.width())
      write_line(p, {name.left() + used, top, name.width() - used, half}, Qt::AlignLeft, basis_text(c));
  }
  if (two_lines) write_line(p, {name.left(), top + half, name.width(), half}, Qt::AlignLeft, c.about);
  const PhaseRooms parts = layout.cluster_parts(number);
  for (size_t i = 0; i < kRestOfStep; ++i)
    p.fillRect(parts[i], page.any_calibrated && !c.calibrated[i] ? pale_color_of(i, theme) : phase_color(i, theme));
  paint_rest(p, parts[kRestOfStep], theme);
  paint_overlap(p, layout.cluster_overlap(number), theme);
  const double low = layout.cluster_x(c.step.p50_ms), high = layout.cluster_x(c.step.p95_ms), y = parts[0].bottom() + 3;
  p.setPen(QPen(theme.text, 1.5));
  p.drawLine(QPointF(low, y), QPointF(high, y));
  for (const double x : {low, high}) p.drawLine(QPointF(x, y - 2), QPointF(x, y + 2));
  p.setPen(theme.text);
  const double end = std::max({parts[kRestOfStep].right(), high}) + 8;
  write_line(p, {end, room.top(), room.right() - end, room.height()}, Qt::AlignLeft,
             tr("%1, 95 % %2").arg(duration_text(c.step.mean_ms), duration_text(c.step.p95_ms)));
}

void paint_clusters(QPainter& p, const SimulationPage& page, const SimulationLayout& layout,
                    const SimulationMarks& marks, const Theme& theme) {
  p.setPen(theme.text);
  write_line(p, {layout.clusters.left(), layout.clusters.top(), layout.clusters.width(), layout.line()}, Qt::AlignLeft,
             page.any_calibrated ? tr("The same steps on each cluster; pale phases go by data sheets from zero, not to "
                                      "be compared with calibrated "
                                      "ones; Enter or a click takes one")
                                 : tr("The same steps on each cluster; Enter or a click takes one"));
  if (page.clusters.empty()) return;
  const QRectF first = layout.cluster_row(0), last = layout.cluster_row(page.clusters.size() - 1);
  for (const double ms : layout.cluster_ticks) {
    const double x = layout.cluster_x(ms);
    p.setPen(theme.grid);
    p.drawLine(QPointF(x, first.top()), QPointF(x, last.bottom() + 3));
    p.setPen(theme.faint);
    p.drawText(QRectF(x - 40, last.bottom() + 4, 80, layout.line()), Qt::AlignHCenter | Qt::AlignTop,
               time_tick_text(ms, layout.cluster_ticks));
  }
  for (size_t i = 0; i < page.clusters.size(); ++i) {
    if (!page.clusters[i].fault.isEmpty()) p.fillRect(layout.cluster_room(i).adjusted(-1, 0, 0, 4), theme.background);
    paint_cluster_steps(p, page, layout, i, theme);
    const QRectF row = layout.cluster_row(i);
    if (page.clusters[i].chosen) p.fillRect(QRectF(row.left() - 7, row.top() + 3, 3, row.height() - 6), theme.accent);
    if (marks.cluster == i) draw_frame(p, row.adjusted(-3, 1, 3, -1), theme.faint, 1, Qt::DotLine);
  }
}

/// Paints lanes, a span at least a pixel wide; unused spans keep the background.
void paint_shares(QPainter& p, QRectF room, const std::vector<double>& shares, const Theme& theme) {
  const double wide = room.width() / static_cast<double>(std::max<size_t>(1, shares.size()));
  for (size_t s = 0; s < shares.size(); ++s)
    p.fillRect(QRectF(room.left() + wide * static_cast<double>(s), room.top(), wide + 0.5, room.height()),
               theme.sequential(std::clamp(shares[s], 0.0, 1.0)));
}

void paint_lane_name(QPainter& p, const SimulationLayout& layout, size_t number, size_t lane, const QString& text,
                     const Theme& theme) {
  const QRectF name = layout.lane_name(number, lane);
  if (name.isEmpty()) return;
  p.setPen(theme.faint);
  write_line(p, name, Qt::AlignRight, text);
}

void paint_ports(QPainter& p, const ShownExchange& e, const SimulationLayout& layout, size_t number,
                 const Theme& theme) {
  for (size_t l = 0; l < e.lanes.size(); ++l) {
    const QRectF row = layout.lane(number, l);
    const double gap = row.height() > 6 ? 1 : 0, half = (row.height() - 2 * gap) / 2;
    paint_shares(p, {row.left(), row.top() + gap, row.width(), half}, e.lanes[l].sends, theme);
    paint_shares(p, {row.left(), row.top() + gap + half, row.width(), half}, e.lanes[l].receives, theme);
    paint_lane_name(p, layout, number, l, e.lanes[l].name, theme);
  }
}

/// A line parts senders.
void paint_messages(QPainter& p, const ShownExchange& e, const SimulationLayout& layout, size_t number,
                    const Theme& theme) {
  for (size_t m = 0; m < e.sent.size(); ++m) {
    const QRectF row = layout.lane(number, m);
    const double gap = std::min(0.15 * row.height(), 2.0);
    p.fillRect(QRectF(QPointF(row.left(), row.top() + gap),
                      QPointF(layout.exchange_x(number, e.sent[m].end_ms), row.bottom() - gap)),
               theme.category(e.sent[m].from));
    paint_lane_name(p, layout, number, m, message_name(e.sent[m]), theme);
    if (m == 0 || e.sent[m].from == e.sent[m - 1].from) continue;
    p.setPen(theme.faint);
    p.drawLine(row.topLeft(), row.topRight());
  }
}

void paint_exchange(QPainter& p, const SimulationPage& page, const SimulationLayout& layout, size_t number,
                    const Theme& theme) {
  const ShownExchange& e = page.exchanges[number];
  p.setPen(theme.text);
  p.drawText(layout.exchange_title(number), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, e.title);
  page.part == SimulationPart::messages ? paint_messages(p, e, layout, number, theme)
                                        : paint_ports(p, e, layout, number, theme);
  if (layout.lanes(number) == 0) return;
  const double bottom = layout.lane(number, layout.lanes(number) - 1).bottom(), top = layout.exchange(number).top();
  const std::vector<double> ticks = layout.exchange_ticks(number);
  for (const double ms : ticks) {
    const double x = layout.exchange_x(number, ms);
    p.setPen(theme.faint);
    p.drawLine(QPointF(x, bottom), QPointF(x, bottom + 3));
    p.drawText(QRectF(x - 40, bottom + 4, 80, layout.line()), Qt::AlignHCenter | Qt::AlignTop,
               time_tick_text(ms, ticks));
  }
  if (page.part == SimulationPart::messages) return;
  const double closed = layout.exchange_x(number, e.closed_form_ms);
  p.setPen(QPen(theme.accent, 1.5, Qt::DashLine));
  p.drawLine(QPointF(closed, top), QPointF(closed, bottom));
}

}  // namespace

void paint_simulation(QPainter& p, const SimulationPage& page, const SimulationLayout& layout,
                      const SimulationMarks& marks, const Theme& theme) {
  paint_simulation_head(p, page, layout, theme);
  paint_assumed(p, layout, theme);
  switch (page.part) {
    case SimulationPart::phases:
      paint_step_bars(p, page, layout, marks, theme);
      paint_simulated_figures(p, page, layout, theme);
      return paint_sensitivity(p, page, layout, theme);
    case SimulationPart::clusters:
      return paint_clusters(p, page, layout, marks, theme);
    case SimulationPart::exchange:
    case SimulationPart::messages:
      for (size_t e = 0; e < page.exchanges.size(); ++e) paint_exchange(p, page, layout, e, theme);
      if (page.exchanges.empty()) {
        p.setPen(theme.text);
        p.drawText(layout.clusters, Qt::AlignCenter | Qt::TextWordWrap, page.no_exchange);
      }
  }
}

}  // namespace stormcell::views
