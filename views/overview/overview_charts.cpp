// The overview's charts: the interval of the result, the waterfall by pass, the routers' imbalance.
#include <algorithm>
#include <cmath>

#include "views/drawing/value_axis.h"
#include "views/overview/overview_painter.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

ValueAxis axis_of(const OverviewPageModel& page, const QRectF& area) {
  std::vector<double> values = {1};
  for (const WaterfallRow& row : page.waterfall) {
    if (row.to) values.push_back(*row.to);
    if (row.interval && row.to) values.push_back((*row.interval)[0]), values.push_back((*row.interval)[1]);
  }
  return ValueAxis::around(values, area.left(), area.right(), 0.1, 0.05);
}

void interval_bar(QPainter& p, const ValueAxis& axis, const std::array<double, 2>& ci, double y, const QColor& color,
                  double thickness, double cap) {
  p.setPen(QPen(color, thickness, Qt::SolidLine, Qt::FlatCap));
  p.drawLine(QPointF(axis.x(ci[0]), y), QPointF(axis.x(ci[1]), y));
  for (const double end : ci) p.drawLine(QPointF(axis.x(end), y - cap), QPointF(axis.x(end), y + cap));
}

void paint_axis(QPainter& p, const ValueAxis& axis, const QRectF& area, double u, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const auto ticks = axis.ticks(std::clamp(static_cast<int>(area.width() / (3.6 * u)), 2, 8));
  const int decimals = std::max(1, ValueAxis::decimals(ticks));
  for (const double t : ticks) {
    const double x = axis.x(t);
    p.setPen(QPen(theme.grid, 1));
    p.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    p.setPen(theme.faint);
    p.drawText(QRectF(x - 3 * u, area.bottom() + 0.25 * u, 6 * u, metrics.height()), Qt::AlignHCenter | Qt::AlignTop,
               QString::number(t, 'f', decimals) + QChar(0x00D7));
  }
  p.setPen(QPen(theme.faint, 1.5, Qt::DashLine));
  p.drawLine(QPointF(axis.x(1), area.top()), QPointF(axis.x(1), area.bottom()));
}

void paint_chart_legend(QPainter& p, const OverviewGeometry& g, const Theme& theme) {
  const double u = g.unit(), y = g.chart().top() + 1.65 * u;
  const QFontMetricsF metrics(p.font());
  const QString measured = tr("measured, 95 % interval"), base = tr("dashed: baseline");
  double x = g.chart().right() - g.padding();
  const auto label = [&](const QString& what) {
    x -= metrics.horizontalAdvance(what);
    p.setPen(theme.faint);
    p.drawText(QRectF(x, y - u, metrics.horizontalAdvance(what) + 4, 2 * u), Qt::AlignLeft | Qt::AlignVCenter, what);
    x -= 0.6 * u;
  };
  // A narrow chart has no label for the baseline's line: its place at 1 explains it.
  if (g.chart().width() > 40 * u) {
    label(base);
    x -= 0.6 * u;
  }
  label(measured);
  p.setPen(QPen(theme.text, 1.5));
  p.drawLine(QPointF(x - 1.4 * u, y), QPointF(x, y));
  p.drawLine(QPointF(x - 1.4 * u, y - 0.25 * u), QPointF(x - 1.4 * u, y + 0.25 * u));
  p.drawLine(QPointF(x, y - 0.25 * u), QPointF(x, y + 0.25 * u));
}

void paint_pass_text(QPainter& p, const WaterfallRow& row, const QRectF& at, const QFont& font, double u,
                     const Theme& theme) {
  p.setFont(scaled(font, 1, true));
  p.setPen(row.applied ? theme.text : theme.faint);
  p.drawText(QRectF(at.left(), at.top() + 0.2 * u, at.width(), 1.2 * u), Qt::AlignLeft | Qt::AlignVCenter, row.name);
  const QFont small = scaled(font, 0.82);
  const QFontMetricsF metrics(small);
  p.setFont(small);
  p.setPen(theme.faint);
  // Two lines: as much of the reason as they hold, broken at a word.
  QString first = row.reason, rest;
  if (metrics.horizontalAdvance(first) > at.width()) {
    qsizetype cut = row.reason.size();
    while (cut > 0 && metrics.horizontalAdvance(row.reason.left(cut)) > at.width())
      cut = row.reason.lastIndexOf(' ', cut - 1);
    if (cut <= 0) cut = row.reason.size() / 2;
    first = row.reason.left(cut), rest = row.reason.mid(cut).trimmed();
  }
  p.drawText(QRectF(at.left(), at.top() + 1.35 * u, at.width() + 2, metrics.height()), Qt::AlignLeft,
             metrics.elidedText(first, Qt::ElideRight, at.width() + 1));
  p.drawText(QRectF(at.left(), at.top() + 1.35 * u + metrics.height(), at.width() + 2, metrics.height()), Qt::AlignLeft,
             metrics.elidedText(rest, Qt::ElideRight, at.width()));
}

void paint_step(QPainter& p, const WaterfallRow& row, const QRectF& at, const ValueAxis& axis, double value_left,
                const QFont& font, double u, const Theme& theme) {
  const double y = at.center().y();
  p.setFont(font);
  if (!row.to) {
    p.setPen(theme.faint);
    p.drawText(QRectF(axis.x(1) + 0.6 * u, at.top(), axis.right - axis.x(1), at.height()),
               Qt::AlignLeft | Qt::AlignVCenter,
               !row.value.isEmpty() ? row.value
               : row.applied        ? tr("not measured")
               : row.left_out       ? tr("left out")
                                    : tr("not applied"));
    return;
  }
  const double from = axis.x(row.from), to = axis.x(*row.to);
  p.setPen(Qt::NoPen);
  p.setBrush(row.tone == Tone::plain ? theme.accent : tone_color(row.tone, theme));
  p.drawRect(QRectF(std::min(from, to), y - 0.55 * u, std::max(2.0, std::abs(to - from)), 1.1 * u));
  if (row.interval) interval_bar(p, axis, *row.interval, y, theme.text, 1.5, 0.3 * u);
  p.setPen(theme.text);
  p.setFont(scaled(font, 1.1, true));
  p.drawText(QRectF(value_left, at.top(), at.right() - value_left, at.height()), Qt::AlignRight | Qt::AlignVCenter,
             row.value);
}

}  // namespace

void paint_ratio(QPainter& p, QRectF bounds, const HeroFigure& figure, const Theme& theme) {
  std::vector<double> values = {1, *figure.ratio};
  if (figure.interval) values.insert(values.end(), figure.interval->begin(), figure.interval->end());
  const QFontMetricsF metrics(p.font());
  const ValueAxis axis = ValueAxis::around(values, bounds.left(), bounds.right(), 0.08, 0.18);
  const double y = bounds.top() + 0.35 * bounds.height(), line = metrics.height(), one = axis.x(1);
  const QColor color = figure.tone == Tone::plain ? theme.text : tone_color(figure.tone, theme);
  p.setPen(QPen(theme.grid, 2));
  p.drawLine(QPointF(bounds.left(), y), QPointF(bounds.right(), y));
  p.setPen(QPen(theme.faint, 1.5, Qt::DashLine));
  p.drawLine(QPointF(one, y - 0.75 * line), QPointF(one, y + 0.75 * line));
  if (figure.interval) interval_bar(p, axis, *figure.interval, y, color, 3, 0.4 * line);
  p.setPen(QPen(theme.surface, 2));
  p.setBrush(color);
  p.drawEllipse(QPointF(axis.x(*figure.ratio), y), 0.42 * line, 0.42 * line);
  // Explains the dashed line below it, kept inside.
  const QString text = tr("dashed: 1, the baseline");
  const double width = metrics.horizontalAdvance(text) + 2;
  const double left = std::clamp(one - width / 2, bounds.left(), std::max(bounds.left(), bounds.right() - width));
  p.setPen(theme.faint);
  p.drawText(QRectF(left, y + 0.8 * line, width, line), Qt::AlignLeft | Qt::AlignTop, text);
}

void paint_waterfall(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const Theme& theme) {
  const QFont font = p.font();
  const double u = g.unit();
  const QRectF area = g.chart_area();
  const ValueAxis axis = axis_of(page, area);
  p.setFont(scaled(font, 0.85));
  paint_chart_legend(p, g, theme);
  paint_axis(p, axis, area, u, theme);
  for (size_t i = 0; i < page.waterfall.size(); ++i) {
    const QRectF at = g.chart_row(static_cast<int>(i));
    paint_pass_text(p, page.waterfall[i], {at.left(), at.center().y() - 1.6 * u, area.left() - at.left() - u, 3.2 * u},
                    font, u, theme);
    paint_step(p, page.waterfall[i], at, axis, area.right() + 0.3 * u, font, u, theme);
  }
}

void paint_routers(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const Theme& theme) {
  const QFont font = p.font();
  const double u = g.unit();
  const QRectF area = g.chart_area();
  const QFontMetricsF metrics(font);
  double most = 0;
  for (const RouterRow& row : page.routers) most = std::max(most, row.imbalance);
  for (size_t i = 0; i < page.routers.size() && static_cast<int>(i) < g.chart_rows(); ++i) {
    const QRectF at = g.chart_row(static_cast<int>(i));
    p.setFont(font);
    p.setPen(theme.text);
    p.drawText(QRectF(at.left(), at.top(), area.left() - at.left() - u, at.height()), Qt::AlignLeft | Qt::AlignVCenter,
               metrics.elidedText(page.routers[i].name, Qt::ElideLeft, area.left() - at.left() - u));
    p.setPen(Qt::NoPen);
    const bool within_chance = page.routers[i].within_chance;
    p.setBrush(within_chance ? theme.grid : theme.accent);
    p.drawRoundedRect(QRectF(area.left(), at.center().y() - 0.4 * u,
                             most > 0 ? std::max(2.0, area.width() * page.routers[i].imbalance / most) : 2, 0.8 * u),
                      2, 2);
    p.setPen(within_chance ? theme.faint : theme.text);
    p.drawText(QRectF(area.right(), at.top(), at.right() - area.right(), at.height()),
               Qt::AlignRight | Qt::AlignVCenter, page.routers[i].text);
  }
  if (most > kHighImbalance) {
    const double x = area.left() + area.width() * kHighImbalance / most;
    p.setPen(QPen(theme.faint, 1.5, Qt::DashLine));
    p.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  }
  p.setFont(scaled(font, 0.85));
  p.setPen(theme.faint);
  if (page.routers.empty()) return;
  QString caption = tr("imbalance: max / mean load - 1, without padding; dashed: the busiest gets twice the mean");
  if (std::any_of(page.routers.begin(), page.routers.end(), [](const RouterRow& r) { return r.within_chance; }))
    caption = tr("grey: within chance; ") + caption;
  if (static_cast<int>(page.routers.size()) > g.chart_rows())
    caption = tr("the %1 most uneven of %2; ").arg(g.chart_rows()).arg(page.routers.size()) + caption;
  const QRectF at(g.chart().left() + g.padding(), g.chart().top() + 2.2 * u, g.chart().width() - 2 * g.padding(),
                  1.1 * u);
  p.drawText(at, Qt::AlignLeft | Qt::AlignVCenter,
             QFontMetricsF(p.font()).elidedText(caption, Qt::ElideRight, at.width()));
}

}  // namespace stormcell::views
