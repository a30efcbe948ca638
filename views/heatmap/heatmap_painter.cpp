#include "views/heatmap/heatmap_painter.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/tone_scale.h"
#include "views/drawing/value_axis.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString number(const HeatMatrix& m, double v) {
  switch (m.options.metric) {
    case HeatMetric::share: {
      const QString percent = QString::number(100 * v, 'f', std::abs(v) < 0.0995 ? 1 : 0);
      // Differences of shares are in percentage points.
      return m.options.pair == HeatPair::difference ? (v > 0 ? "+" : "") + percent : percent + "%";
    }
    case HeatMetric::imbalance:
      return QString::number(v, 'f', 2);
    default:
      return std::abs(v) >= 1e6   ? QString::number(v / 1e6, 'f', 1) + "M"
             : std::abs(v) >= 1e4 ? QString::number(v / 1e3, 'f', 0) + "k"
                                  : QString::number(v, 'f', 0);
  }
}

/// 256 tones a side are more than an eye tells apart, and much cheaper than a colour for each cell.
class ToneTable {
 public:
  ToneTable(bool two_sided, const Theme& theme, bool grey = false) {
    for (int i = -kTones; i <= kTones; ++i) {
      const QColor color = theme.tone(static_cast<float>(i) / kTones, two_sided);
      colors_.push_back((grey ? in_grey(color) : color).rgb());
    }
  }
  QRgb of(float tone) const { return colors_[static_cast<size_t>(std::lround(tone * kTones) + kTones)]; }

 private:
  static constexpr int kTones = 255;
  std::vector<QRgb> colors_;
};

/// An image whose pixels are seen as such. Qt scales in steps of 1/65536 of a source pixel, so that large pixels would
/// end some points beside their place: these are filled one by one.
void paint_pixels(QPainter& p, const QRectF& to, const QImage& image) {
  constexpr int kMost = 8192;
  const double width = to.width() / image.width(), height = to.height() / image.height();
  const QRectF seen = p.hasClipping() ? p.clipBoundingRect().intersected(to) : to;
  const auto from_x = std::max(0, static_cast<int>((seen.left() - to.left()) / width)),
             end_x = std::min(image.width(), static_cast<int>(std::ceil((seen.right() - to.left()) / width))),
             from_y = std::max(0, static_cast<int>((seen.top() - to.top()) / height)),
             end_y = std::min(image.height(), static_cast<int>(std::ceil((seen.bottom() - to.top()) / height)));
  if (std::max(width, height) < 9 || (end_x - from_x) * (end_y - from_y) > kMost) return p.drawImage(to, image);
  for (int y = from_y; y < end_y; ++y)
    for (int x = from_x; x < end_x; ++x)
      p.fillRect(QRectF(to.left() + x * width, to.top() + y * height, width, height), image.pixelColor(x, y));
}

/// The parts of paint_matrix().
struct MatrixPainter {
  QPainter& p;
  const HeatMatrix& m;
  const HeatGeometry& g;
  const Theme& theme;
  const HeatMarks& marks;
  QFontMetricsF metrics;

  /// Draws as many as fit.
  void column_numbers() {
    p.setPen(theme.faint);
    const QRectF area = g.area();
    const bool by_index = m.options.order == HeatOrder::index;
    const int step = std::max(1, static_cast<int>(std::ceil(metrics.horizontalAdvance("0000") / g.cell_width())));
    for (int c = g.first_column(); c < g.end_column(); ++c) {
      if (c % step) continue;
      const QRectF cell = g.cell(g.first_row(), c);
      const QRectF at(cell.left(), area.top() - metrics.height() - 3, g.cell_width() * step, metrics.height());
      if (at.center().x() < area.left() || at.left() > area.right()) continue;
      p.drawText(at, (step > 1 ? Qt::AlignLeft : Qt::AlignHCenter) | Qt::AlignBottom,
                 by_index ? QString::number(c) : QString("#%1").arg(c + 1));
    }
  }

  /// Draws one scaled image, then gaps and figures if cells are large enough.
  void cells(const QImage& tones) {
    p.setRenderHint(QPainter::SmoothPixmapTransform, false);
    paint_pixels(p,
                 {g.cell(0, 0).topLeft(),
                  QSizeF(g.cell_width() * m.columns, g.cell_height() * static_cast<double>(m.rows.size()))},
                 tones);
    if (g.cell_width() >= metrics.horizontalAdvance("00.0%") + 6 && g.cell_height() >= metrics.height() + 2) figures();
    if (g.cell_width() >= 9 && g.cell_height() >= 9) gaps();
  }

  void figures() {
    for (int r = g.first_row(); r < g.end_row(); ++r) {
      const HeatRow& row = m.rows[r];
      for (int c = g.first_column(); c < std::min<int>(g.end_column(), static_cast<int>(row.value.size())); ++c) {
        const QColor tone = theme.tone(row.tone[c], m.two_sided);
        p.setPen(Theme::text_on(row.within_chance ? in_grey(tone) : tone));
        p.drawText(g.cell(r, c), Qt::AlignCenter, number(m, row.value[c]));
      }
    }
  }

  void gaps() {
    const QRectF area = g.area();
    p.setPen(QPen(theme.background, 1));
    for (int r = g.first_row(); r <= g.end_row(); ++r)
      p.drawLine(QPointF(area.left(), g.cell(r, 0).top()), QPointF(area.right(), g.cell(r, 0).top()));
    for (int c = g.first_column(); c <= g.end_column(); ++c)
      p.drawLine(QPointF(g.cell(0, c).left(), area.top()), QPointF(g.cell(0, c).left(), area.bottom()));
  }

  /// Draws the path of a followed cell.
  void way(const std::vector<HeatCell>& path) {
    p.setRenderHint(QPainter::Antialiasing);
    QPolygonF line;
    for (const HeatCell& at : path) line << g.cell(at.row, at.column).center();
    QColor thread = theme.bad;
    thread.setAlphaF(0.55f);
    p.setPen(QPen(thread, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    p.drawPolyline(line);
    for (const HeatCell& at : path)
      for (const QPen& pen : {QPen(theme.background, 4), QPen(theme.bad, 2)}) {
        p.setPen(pen);
        p.drawRect(g.cell(at.row, at.column).adjusted(1.5, 1.5, -1.5, -1.5));
      }
  }

  void outline(const std::optional<HeatCell>& at, const QColor& color, double width) {
    if (!at) return;
    p.setPen(QPen(color, width));
    p.setBrush(Qt::NoBrush);
    p.drawRect(g.cell(at->row, std::max(0, at->column)).adjusted(0.5, 0.5, -1, -1));
  }

  void router_names(double labels) {
    const QRectF area = g.area();
    const int step = std::max(1, static_cast<int>(std::ceil(metrics.height() / g.cell_height())));
    for (int r = g.first_row(); r < g.end_row(); ++r) {
      const bool is_selected = marks.selected && marks.selected->row == r;
      if (r % step && !is_selected) continue;
      const QRectF cell = g.cell(r, 0);
      const QRectF at(area.left() - labels, cell.center().y() - metrics.height() / 2, labels - 8, metrics.height());
      if (at.center().y() < area.top() || at.center().y() > area.bottom()) continue;
      p.setPen(is_selected ? theme.accent : theme.text);
      p.drawText(at, Qt::AlignRight | Qt::AlignVCenter,
                 metrics.elidedText(m.rows[r].router, Qt::ElideLeft, at.width()));
    }
  }
};

}  // namespace

double label_width(const QFontMetricsF& metrics, const HeatMatrix& matrix) {
  double width = metrics.horizontalAdvance(tr("branch %1").arg(std::max(0, matrix.columns - 1))) + 14;
  for (const HeatRow& row : matrix.rows) width = std::max(width, metrics.horizontalAdvance(row.router) + 14);
  return width;
}

QImage tone_image(const HeatMatrix& m, const Theme& theme) {
  QImage image(std::max(1, m.columns), std::max<int>(1, static_cast<int>(m.rows.size())),
               QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const ToneTable coloured(m.two_sided, theme), grey(m.two_sided, theme, true);
  for (size_t r = 0; r < m.rows.size(); ++r) {
    const ToneTable& table = m.rows[r].within_chance ? grey : coloured;
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(r)));
    for (size_t c = 0; c < m.rows[r].tone.size(); ++c) line[c] = table.of(m.rows[r].tone[c]);
  }
  return image;
}

QImage tone_image(const RouterOverTime& t, const Theme& theme) {
  QImage image(std::max(1, static_cast<int>(t.windows)), std::max(1, t.branches), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const ToneTable table(false, theme);
  const size_t branches = t.branches;
  for (size_t b = 0; b < branches; ++b) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(b)));
    for (size_t w = 0; w < static_cast<size_t>(t.windows); ++w)
      line[w] = table.of(t.most > 0 ? t.share[w * branches + b] / t.most : 0);
  }
  return image;
}

void paint_matrix(QPainter& painter, const HeatMatrix& matrix, const QImage& tones, const HeatGeometry& geometry,
                  double labels, const Theme& theme, const HeatMarks& marks) {
  MatrixPainter matrix_painter{painter, matrix, geometry, theme, marks, QFontMetricsF(painter.font())};
  matrix_painter.column_numbers();
  painter.save();
  painter.setClipRect(geometry.area());
  matrix_painter.cells(tones);
  for (const std::vector<HeatCell>& path : marks.paths) matrix_painter.way(path);
  painter.setRenderHint(QPainter::Antialiasing, false);
  matrix_painter.outline(marks.hovered, theme.text, 1);
  matrix_painter.outline(marks.selected, theme.accent, 2.5);
  painter.restore();
  matrix_painter.router_names(labels);
}

namespace {

QString tick_text(const HeatMatrix& m, const ScaleTick& tick) {
  // The lowest decades need more digits than the figures in the map.
  if (m.options.scale == HeatScale::logarithmic && m.options.metric == HeatMetric::share && tick.value < 0.00095)
    return QString("%1%").arg(100 * tick.value, 0, 'g', 2);
  if (m.options.scale == HeatScale::logarithmic && m.options.metric != HeatMetric::share && tick.value < 10)
    return QString::number(tick.value, 'g', 2);
  if (m.options.scale != HeatScale::per_router) return number(m, tick.value);
  if (tick.at >= 1) return tr("router's max");
  if (!m.two_sided) return tick.at <= 0 ? tr("0") : QString::number(tick.value, 'g', 2);
  return tick.at > 0 ? tr("0") : ends_at_minus_one(m.options) ? tr("-1") : tr("-max");
}

}  // namespace

void paint_scale(QPainter& p, QRectF bounds, const HeatMatrix& m, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const double width = std::min(280.0, bounds.width() * 0.35);
  const QRectF bar(bounds.left(), bounds.top() + 2, width, 10);
  std::vector<ToneTick> ticks;
  for (const ScaleTick& tick : scale_ticks(m, 4)) ticks.push_back({tick.at, tick_text(m, tick)});
  paint_tone_scale(p, bar, m.two_sided ? ToneSides::two : ToneSides::one, ticks, theme);
  const Term& text = term_of(m.options.metric);
  const QString name = text.name.left(1).toUpper() + text.name.mid(1);
  p.setPen(theme.text);
  const QString difference = m.options.metric == HeatMetric::share
                                 ? tr("%1: this run minus the other, in percentage points")
                                 : tr("%1: this run minus the other");
  const QString title = m.options.pair == HeatPair::difference ? difference.arg(name) : name;
  const double left = bar.right() + 14;
  p.drawText(QRectF(left, bounds.top() - 2, bounds.right() - left, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
             title);
  p.setPen(theme.faint);
  p.drawText(QRectF(left, bounds.top() + metrics.height() - 2, bounds.right() - left, metrics.height()),
             Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(text.line(), Qt::ElideRight, bounds.right() - left));
}

QString routers_shown(size_t shown, size_t routers, bool chosen) {
  if (shown == routers) return {};
  const QString text = tr("%1 of %2 routers").arg(shown).arg(routers);
  return chosen       ? tr("%1: the chosen one").arg(text)
         : shown == 0 ? tr("%1 have room").arg(text)
                      : tr("%1; click another in the map").arg(text);
}

namespace {

/// Draws the scale of shares in a line: the words, then a bar from 0 to the largest share with its middle.
void paint_share_scale(QPainter& p, QRectF room, double most, const Theme& theme) {
  constexpr double kBar = 72, kHeight = 8, kGap = 6;
  const QFontMetricsF metrics(p.font());
  const QString words = tr("share of each window's cells by branch"), zero = tr("0 %"),
                end = tr("%1 %").arg(100 * most, 0, 'f', 1), middle = tr("tick: %1 %").arg(50 * most, 0, 'f', 1);
  double x = room.left();
  const auto say = [&](const QString& text) {
    p.setPen(theme.faint);
    p.drawText(QRectF(x, room.top(), room.right() - x, room.height()), Qt::AlignLeft | Qt::AlignVCenter,
               metrics.elidedText(text, Qt::ElideRight, std::max(0.0, room.right() - x)));
    x += metrics.horizontalAdvance(text) + kGap;
  };
  const double scale = metrics.horizontalAdvance(zero) + metrics.horizontalAdvance(end) + kBar + 3 * kGap;
  const bool explained = metrics.horizontalAdvance(words) + kGap + scale <= room.width();
  if (explained) say(words);
  if (scale > room.width()) return say(tr("strongest tone %1").arg(end));
  say(zero);
  const QRectF bar(x, room.center().y() - kHeight / 2, kBar, kHeight);
  const ToneTable tones(false, theme);
  for (int i = 0; i < static_cast<int>(kBar); ++i)
    p.fillRect(QRectF(bar.left() + i, bar.top(), 1.5, bar.height()),
               QColor::fromRgb(tones.of(static_cast<float>(i / (kBar - 1)))));
  p.fillRect(QRectF(bar.center().x(), bar.top() - 2, 1, bar.height() + 4), theme.text);
  x += kBar + kGap;
  say(end);
  if (x + metrics.horizontalAdvance(middle) <= room.right()) say(middle);
}

/// Numbers of batches below the middles of the columns that hold them, the first and the last at the ends.
void paint_batch_axis(QPainter& p, const QRectF& room, const RouterOverTime& t, const Theme& theme) {
  constexpr double kGap = 10;
  const QFontMetricsF metrics(p.font());
  const QString first = tr("batch %1").arg(t.first_batch), last = QString::number(t.end_batch - 1);
  // All windows are drawn equally wide, also a last one that is not full.
  const int64_t of_window = (t.end_batch - t.first_batch + t.windows - 1) / t.windows;
  const double width = metrics.horizontalAdvance(last) + 1,
               each = room.width() / static_cast<double>(std::max<int64_t>(1, of_window * t.windows));
  p.setPen(theme.faint);
  p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, first);
  p.drawText(room, Qt::AlignRight | Qt::AlignVCenter, last);
  const ValueAxis axis{static_cast<double>(t.first_batch), static_cast<double>(t.end_batch - 1), 0, 1};
  double free_from = room.left() + metrics.horizontalAdvance(first) + kGap;
  for (const double batch : axis.ticks(std::clamp(static_cast<int>(room.width() / (4 * width)), 1, 8))) {
    const double x = room.left() + (batch - axis.low + 0.5) * each, left = x - width / 2;
    if (batch != std::floor(batch) || left < free_from || left + width + kGap > room.right() - width) continue;
    p.fillRect(QRectF(x, room.top() - 2, 1, 3), theme.faint);
    p.drawText(QRectF(left, room.top(), width, room.height()), Qt::AlignHCenter | Qt::AlignVCenter,
               QString::number(static_cast<int64_t>(batch)));
    free_from = left + width + kGap;
  }
}

}  // namespace

void paint_over_time(QPainter& p, QRectF bounds, double labels, const RouterOverTime& t, const QImage& tones,
                     const Theme& theme, int selected, const QString& aside) {
  const QFontMetricsF metrics(p.font());
  const QRectF title(bounds.left(), bounds.top(), bounds.width(), metrics.height() + 4);
  p.setPen(theme.text);
  QFont strong = p.font(), plain = p.font();
  strong.setBold(true);
  p.setFont(strong);
  p.drawText(title, Qt::AlignLeft | Qt::AlignVCenter, tr("%1 over time").arg(t.router));
  const double used = QFontMetricsF(strong).horizontalAdvance(tr("%1 over time").arg(t.router)) + 10;
  p.setFont(plain);
  p.setPen(theme.faint);
  const double right = aside.isEmpty() ? 0 : metrics.horizontalAdvance(aside) + 12;
  paint_share_scale(p, title.adjusted(used, 0, -right, 0), t.most, theme);
  p.setPen(theme.faint);
  p.drawText(title, Qt::AlignRight | Qt::AlignVCenter, aside);
  const QRectF area(bounds.left() + labels, title.bottom() + 4, bounds.width() - labels,
                    bounds.bottom() - title.bottom() - metrics.height() - 8);
  if (t.windows == 0 || t.branches == 0 || area.height() < 8 || area.width() < 8) return;
  p.setRenderHint(QPainter::SmoothPixmapTransform, false);
  paint_pixels(p, area, tones);
  p.setPen(theme.faint);
  const QRectF below(area.left(), area.bottom() + 2, area.width(), metrics.height());
  paint_batch_axis(p, below, t, theme);
  const double height = area.height() / t.branches;
  const int step = std::max(1, static_cast<int>(std::ceil(metrics.height() / height)));
  for (int b = 0; b < t.branches; b += step) {
    p.setPen(b == selected ? theme.accent : theme.faint);
    // of thin rows: not into the title
    const double top = area.top() + std::max(-2.0, b * height + (height - metrics.height()) / 2);
    p.drawText(QRectF(area.left() - labels, top, labels - 8, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
               tr("branch %1").arg(b));
  }
  if (selected >= 0 && selected < t.branches) {
    p.setPen(QPen(theme.accent, 2));
    p.drawRect(QRectF(area.left(), area.top() + selected * height, area.width() - 1, std::max(2.0, height)));
  }
}

}  // namespace stormcell::views
