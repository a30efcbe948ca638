#include "views/compare/compare_painter.h"

#include <algorithm>
#include <cmath>

#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

using C = CompareGeometry;

void paint_compare_text(QPainter& p, const QRectF& at, int flags, const QString& what, const QColor& color,
                        Qt::TextElideMode elide = Qt::ElideRight) {
  p.setPen(color);
  p.drawText(at, flags | Qt::AlignVCenter, QFontMetricsF(p.font()).elidedText(what, elide, at.width()));
}

QFont bold(QFont font) {
  font.setBold(true);
  return font;
}

void paint_compare_head(QPainter& p, const CompareModel& model, const C& g, const Theme& theme) {
  const QFont font = p.font();
  QRectF line = g.head();
  line.setHeight(1.5 * g.unit());
  p.setFont(bold(font));
  const QString sum = tr("%1 better, %2 worse, %3 differ")
                          .arg(count_text(model.count(Meaning::better)), count_text(model.count(Meaning::worse)),
                               count_text(model.count(Meaning::differs)));
  const double width = QFontMetricsF(p.font()).horizontalAdvance(sum) + 12;
  paint_compare_text(p, line.adjusted(0, 0, -width, 0), Qt::AlignLeft,
                     tr("%1  against  %2").arg(model.title_b, model.title_a), theme.text, Qt::ElideMiddle);
  paint_compare_text(p, line, Qt::AlignRight, sum, theme.text);
  p.setFont(font);
  for (const QString& warning : model.warnings) {
    line.translate(0, 1.5 * g.unit());
    paint_compare_text(p, line, Qt::AlignLeft, tr("Careful: %1").arg(warning), theme.warn);
  }
}

void paint_titles(QPainter& p, const C& g, double limit, const Theme& theme) {
  const QRectF at = g.titles();
  p.setPen(QPen(theme.grid, 1));
  p.drawLine(at.bottomLeft(), at.bottomRight());
  paint_compare_text(p, g.column(C::name, at), Qt::AlignLeft, tr("figure"), theme.faint);
  paint_compare_text(p, g.column(C::a, at), Qt::AlignRight, tr("reference"), theme.faint);
  paint_compare_text(p, g.column(C::b, at), Qt::AlignRight, tr("this run"), theme.faint);
  paint_compare_text(p, g.column(C::difference, at), Qt::AlignRight, tr("difference"), theme.faint);
  const QRectF bar = g.column(C::bar, at).adjusted(1.2 * g.unit(), 0, -1.2 * g.unit(), 0);
  const QString end = percent_text(limit);
  if (bar.width() > 9 * g.unit()) {
    paint_compare_text(p, bar, Qt::AlignLeft, QChar(0x2212) + end, theme.faint);
    paint_compare_text(p, bar, Qt::AlignHCenter, "0", theme.faint);
    paint_compare_text(p, bar, Qt::AlignRight, "+" + end, theme.faint);
  } else {
    paint_compare_text(p, bar, Qt::AlignHCenter, QChar(0x00B1) + end, theme.faint);
  }
  paint_compare_text(p, g.column(C::meaning, at).adjusted(0.5 * g.unit(), 0, 0, 0), Qt::AlignLeft, tr("meaning"),
                     theme.faint);
}

/// Paints a bar from the middle to the difference, with its interval across, and an arrow if it does not fit.
void paint_bar(QPainter& p, const CompareRow& row, const QRectF& column, double limit, double unit, const QColor& color,
               const Theme& theme) {
  const QRectF at = column.adjusted(1.2 * unit, 0, -1.2 * unit, 0);
  const double middle = at.center().x(), y = at.center().y();
  const auto x = [&](double relative) { return middle + std::clamp(relative / limit, -1.0, 1.0) * at.width() / 2; };
  p.setPen(QPen(theme.grid, 1));
  p.drawLine(QPointF(middle, at.top()), QPointF(middle, at.bottom()));
  if (!row.relative || *row.relative == 0) return;
  const double end = x(*row.relative);
  p.setPen(Qt::NoPen);
  QColor fill = color;
  if (color == theme.faint) fill.setAlphaF(0.5F);  // what may be chance must not shout
  p.setBrush(fill);
  p.drawRect(QRectF(std::min(middle, end), y - 0.32 * unit, std::max(1.5, std::abs(end - middle)), 0.64 * unit));
  if (std::abs(*row.relative) > limit * 1.0001) {
    const double tip = *row.relative > 0 ? 0.7 * unit : -0.7 * unit;
    p.drawPolygon(QPolygonF{QPointF(end, y - 0.6 * unit), QPointF(end + tip, y), QPointF(end, y + 0.6 * unit)});
  }
  if (!row.interval) return;
  p.setPen(QPen(theme.text, 1.4));
  p.drawLine(QPointF(x((*row.interval)[0]), y), QPointF(x((*row.interval)[1]), y));
  for (const double e : *row.interval)
    if (std::abs(e) <= limit) p.drawLine(QPointF(x(e), y - 0.25 * unit), QPointF(x(e), y + 0.25 * unit));
}

void paint_row(QPainter& p, const CompareRow& row, const QRectF& line, const C& g, double limit, const Theme& theme) {
  const bool significant =
      row.meaning == Meaning::better || row.meaning == Meaning::worse || row.meaning == Meaning::differs;
  const QColor color = color_of(row.meaning, theme);
  const QFont font = p.font();
  const double pad = 0.5 * g.unit();
  paint_compare_text(p, g.column(C::name, line).adjusted(g.unit(), 0, -pad, 0), Qt::AlignLeft, row.name, theme.text);
  paint_compare_text(p, g.column(C::a, line).adjusted(pad, 0, 0, 0), Qt::AlignRight, row.a, theme.faint);
  paint_compare_text(p, g.column(C::b, line).adjusted(pad, 0, 0, 0), Qt::AlignRight, row.b,
                     row.meaning == Meaning::within_chance ? theme.faint : theme.text);
  if (significant) p.setFont(bold(font));
  paint_compare_text(p, g.column(C::difference, line).adjusted(pad, 0, 0, 0), Qt::AlignRight, row.difference, color);
  paint_bar(p, row, g.column(C::bar, line), limit, g.unit(), color, theme);
  paint_compare_text(p, g.column(C::meaning, line).adjusted(pad, 0, 0, 0), Qt::AlignLeft, text_of(row.meaning),
                     significant ? color : theme.faint);
  p.setFont(font);
}

}  // namespace

QColor color_of(Meaning meaning, const Theme& theme) {
  switch (meaning) {
    case Meaning::better:
      return theme.good;
    case Meaning::worse:
      return theme.bad;
    case Meaning::differs:
      return theme.accent;
    default:
      return theme.faint;
  }
}

double bar_limit(const std::vector<CompareLine>& lines) {
  std::vector<double> sizes;
  for (const CompareLine& line : lines)
    if (line.row && line.row->relative && *line.row->relative != 0 && std::isfinite(*line.row->relative))
      sizes.push_back(std::abs(*line.row->relative));
  std::sort(sizes.begin(), sizes.end());
  // A few large ones get an arrow, or they would flatten all others.
  const double most = sizes.empty() ? 0 : sizes[(sizes.size() - 1) * 4 / 5];
  for (const double end : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5})
    if (most <= end) return end;
  return 1;
}

void paint_compare(QPainter& p, const CompareModel& model, const std::vector<CompareLine>& lines, const C& g,
                   const Theme& theme, int current, int hovered) {
  const double limit = bar_limit(lines);
  paint_compare_head(p, model, g, theme);
  paint_titles(p, g, limit, theme);
  p.save();
  p.setClipRect(g.body());
  for (int i = g.first(); i < g.end(); ++i) {
    const CompareLine& line = lines[i];
    const QRectF at = g.line(i);
    if (!line.row) {
      const QFont font = p.font();
      p.setFont(bold(font));
      paint_compare_text(p, g.column(C::name, at).adjusted(0, 0.3 * g.unit(), at.width(), 0), Qt::AlignLeft,
                         line.section->title, theme.text);
      p.setFont(font);
      continue;
    }
    QColor mark = theme.accent;
    mark.setAlphaF(i == current ? 0.16F : 0.07F);
    if (i == current || i == hovered) p.fillRect(at, mark);
    p.setRenderHint(QPainter::Antialiasing);
    paint_row(p, *line.row, at, g, limit, theme);
    p.setRenderHint(QPainter::Antialiasing, false);
  }
  if (lines.empty())
    paint_compare_text(p, g.body(), Qt::AlignHCenter, tr("No figure matches: clear the search, or show all figures."),
                       theme.faint);
  p.restore();
}

}  // namespace stormcell::views
