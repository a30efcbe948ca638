#include "views/patterns/patterns_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <limits>

#include "views/drawing/marks.h"
#include "views/drawing/tone_scale.h"
#include "views/drawing/value_axis.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {


QString value_text(const PatternPage& page, double value) {
  return page.shares ? percent_text(value) : number_text(value);
}

/// Names of columns, as many as have room.
void paint_columns(QPainter& p, const std::vector<QString>& names, const PatternGeometry& g, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  double widest = 0;
  for (const QString& name : names) widest = std::max(widest, metrics.horizontalAdvance(name));
  const double wide = g.plot.width() / std::max<double>(1, static_cast<double>(names.size()));
  const double room = std::min(widest + 8, std::max(wide, 90.0));
  const int every = std::max(1, static_cast<int>(std::ceil(room / wide)));
  p.setPen(theme.faint);
  for (int c = 0; c < static_cast<int>(names.size()); c += every) {
    QRectF at(g.x_of(c) - room / 2, g.axis.top(), room, g.axis.height());
    if (at.right() > g.plot.right() + 12) at.moveRight(g.plot.right() + 12);
    write_line(p, at, Qt::AlignHCenter, names[c]);
  }
}

void paint_rows(QPainter& p, const std::vector<QString>& names, const PatternGeometry& g, const Theme& theme) {
  const double high = g.plot.height() / std::max<double>(1, static_cast<double>(names.size()));
  const int every = std::max(1, static_cast<int>(std::ceil(g.shape.line / high)));
  p.setPen(theme.faint);
  for (int r = 0; r < static_cast<int>(names.size()); r += every) {
    const double middle = g.square({r, 0}).top() + std::max(high, g.shape.line) / 2;
    write_line(p, {g.title.left(), middle - g.shape.line / 2, g.plot.left() - g.title.left() - 6, g.shape.line},
               Qt::AlignRight, names[r]);
  }
}

void paint_pattern_map(QPainter& p, const PatternPage& page, const PatternGeometry& g,
                       std::optional<PatternSpot> hovered, const Theme& theme) {
  const PatternMap& map = page.map;
  const auto columns = static_cast<int>(map.columns.size());
  const QRectF first = g.square({0, 0});
  const double gap = first.width() > 5 && first.height() > 5 ? -1 : 0.5;
  for (int r = 0; r < static_cast<int>(map.rows.size()); ++r)
    for (int c = 0; c < columns; ++c) {
      const auto& square = map.squares[map.index(r, c)];
      if (!square) continue;
      const QColor tone = theme.tone(square->tone, map.two_sided);
      p.fillRect(g.square({r, c}).adjusted(0, 0, gap, gap), square->beyond ? tone : in_grey(tone));
    }
  draw_frame(p, g.plot, theme.grid, 1);
  if (hovered) draw_frame(p, g.square(*hovered), theme.text, 1);
  paint_rows(p, map.rows, g, theme);
  paint_columns(p, map.columns, g, theme);
  const QRectF bar(g.scale.left(), g.scale.top(), std::min(g.scale.width(), 320.0), g.scale.height());
  std::vector<ToneTick> ticks = {{0, map.least}, {1, map.most}};
  if (map.two_sided) ticks.insert(ticks.begin() + 1, {0.5, tr("uniform")});
  paint_tone_scale(p, bar, map.two_sided ? ToneSides::two : ToneSides::one, ticks, theme);
  p.setPen(theme.faint);
  write_line(p, {bar.right() + 24, g.scale.top() - 4, g.plot.right() - bar.right() - 24, g.shape.line}, Qt::AlignLeft,
             tr("grey: within chance; empty: no cell"));
}

void paint_band(QPainter& p, const PatternPage& page, const PatternLine& line, const PatternGeometry& g,
                const PatternRange& range, const Theme& theme) {
  const double half = g.plot.width() / std::max(1, g.shape.columns) / 2;
  for (int c = 0; c < static_cast<int>(page.places.size()); ++c) {
    const auto& chance = line.chance[c];
    if (!chance) continue;
    const double top = g.y_of(range.height_of(chance->high)), bottom = g.y_of(range.height_of(chance->low));
    p.fillRect(QRectF(g.x_of(c) - half, top, 2 * half, std::max(1.5, bottom - top)), theme.grid);
  }
}

void paint_curve(QPainter& p, const PatternLine& line, const PatternGeometry& g, const PatternRange& range,
                 const QColor& color) {
  QPainterPath path;
  bool drawn = false;
  for (int c = 0; c < static_cast<int>(line.values.size()); ++c) {
    if (!line.values[c]) {
      drawn = false;
      continue;
    }
    const QPointF at(g.x_of(c), g.y_of(range.height_of(*line.values[c])));
    drawn ? path.lineTo(at) : path.moveTo(at);
    drawn = true;
  }
  p.setPen(QPen(color, 2));
  p.setBrush(Qt::NoBrush);
  p.drawPath(path);
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  for (int c = 0; c < static_cast<int>(line.values.size()); ++c)
    if (line.values[c]) p.drawEllipse(QPointF(g.x_of(c), g.y_of(range.height_of(*line.values[c]))), 3.5, 3.5);
}

void paint_keys(QPainter& p, const PatternPage& page, const PatternGeometry& g, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  double x = g.scale.left();
  const auto key = [&](const QString& name, const QColor& color) {
    const double needed = metrics.horizontalAdvance(name) + 36;
    if (x + needed > g.plot.right()) return;
    p.fillRect(QRectF(x, g.scale.top(), 14, 9), color);
    p.setPen(theme.faint);
    p.drawText(QPointF(x + 19, g.scale.top() + 9), name);
    x += needed;
  };
  for (size_t i = 0; i < page.lines.size(); ++i) key(page.lines[i].name, theme.category(static_cast<int>(i)));
  key(tr("95 % of even routers"), theme.grid);
}

void paint_lines(QPainter& p, const PatternPage& page, const PatternGeometry& g, std::optional<PatternSpot> hovered,
                 const Theme& theme) {
  const PatternRange range = range_of(page);
  for (const PatternLine& line : page.lines) paint_band(p, page, line, g, range, theme);
  for (const double mark : marks_of(range)) {
    const double y = g.y_of(range.height_of(mark));
    p.fillRect(QRectF(g.plot.left(), y, g.plot.width(), 1), theme.grid);
    p.setPen(theme.faint);
    write_line(p, {g.title.left(), y - g.shape.line / 2, g.plot.left() - g.title.left() - 6, g.shape.line},
               Qt::AlignRight, value_text(page, mark));
  }
  if (hovered) p.fillRect(QRectF(g.x_of(hovered->column), g.plot.top(), 1, g.plot.height()), theme.faint);
  p.setRenderHint(QPainter::Antialiasing);
  for (size_t i = 0; i < page.lines.size(); ++i)
    paint_curve(p, page.lines[i], g, range, theme.category(static_cast<int>(i)));
  p.setRenderHint(QPainter::Antialiasing, false);
  draw_frame(p, g.plot, theme.grid, 1);
  paint_columns(p, page.places, g, theme);
  paint_keys(p, page, g, theme);
}

}  // namespace

PatternRange range_of(const PatternPage& page) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const PatternLine& line : page.lines)
    for (size_t i = 0; i < line.values.size(); ++i) {
      if (line.values[i]) low = std::min(low, *line.values[i]), high = std::max(high, *line.values[i]);
      if (line.chance[i]) low = std::min(low, line.chance[i]->low), high = std::max(high, line.chance[i]->high);
    }
  if (low > high) return {};
  const double room = high > low ? (high - low) * 0.08 : std::max(std::abs(high) * 0.1, 0.01);
  // A share or a count never falls below 0.
  return {low >= 0 ? std::max(0.0, low - room) : low - room, high + room};
}

std::vector<double> marks_of(const PatternRange& range) {
  constexpr int kMostMarks = 6;
  return ValueAxis{range.low, range.high, 0, 1}.ticks(kMostMarks);
}

void paint_pattern_page(QPainter& p, const PatternPage& page, const PatternGeometry& g,
                        std::optional<PatternSpot> hovered, const Theme& theme) {
  p.setPen(theme.text);
  write_line(p, g.title, Qt::AlignLeft, page.title);
  if (!page.hint.isEmpty()) {
    p.setPen(theme.faint);
    p.drawText(g.plot, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, page.hint);
  } else if (!page.map.rows.empty()) {
    paint_pattern_map(p, page, g, hovered, theme);
  } else {
    paint_lines(p, page, g, hovered, theme);
  }
}

}  // namespace stormcell::views
