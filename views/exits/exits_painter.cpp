#include "views/exits/exits_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/summary/exits_text.h"
#include "views/drawing/branch_colors.h"
#include "views/drawing/thumbnail_image.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QColor page_exit_color(const ExitsPage& page, int exit, const Theme& theme) {
  return exit_color(exit, static_cast<int>(page.exits.size()), theme);
}

/// A title in the line above a part.
void paint_exits_title(QPainter& p, QRectF part, const QString& text, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  p.setPen(theme.faint);
  p.drawText(QRectF(part.left(), part.top() - metrics.height() - 3, part.width(), metrics.height()),
             Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(text, Qt::ElideRight, part.width()));
}

void paint_exits_headline(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                          const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const QRectF first(layout.headline.topLeft(), QSizeF(layout.headline.width(), layout.headline.height() / 2));
  p.setPen(theme.text);
  const QString title = page.headline.isEmpty() ? tr("Who leaves where, as it was recorded") : page.headline;
  p.drawText(first, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(title, Qt::ElideRight, first.width()));
  p.setPen(marks.point == 0 ? theme.faint : theme.accent);
  const QString shown = gain_text(page, marks.point) + (page.target.isEmpty() ? QString() : "; " + page.target);
  p.drawText(first.translated(0, first.height()), Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(shown, Qt::ElideRight, first.width()));
}

/// Paints shares of the current point; those that ran as an outline.
void paint_exit_bars(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                     const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const ShownPoint &shown = page.points[marks.point], &ran = page.points.front();
  paint_exits_title(p, layout.bars, tr("Left at each exit: %1").arg(shown.title()), theme);
  // If bars are thinner than a line of text, only some are labelled.
  const double each = layout.bars.height() / static_cast<double>(std::max<size_t>(1, page.exits.size()));
  const auto step = static_cast<size_t>(std::max(1.0, std::ceil(0.8 * metrics.height() / each)));
  for (size_t e = 0; e < page.exits.size(); ++e) {
    const QRectF bar = layout.bar(e, share_at(shown.items, e)), whole = layout.bar(e);
    p.fillRect(bar, page_exit_color(page, static_cast<int>(e), theme));
    if (marks.point != 0) {
      p.setBrush(Qt::NoBrush);
      p.setPen(QPen(theme.text, 1, Qt::DashLine));
      p.drawRect(layout.bar(e, share_at(ran.items, e)));
    }
    if (e % step != 0) continue;
    const double high = std::max(whole.height(), metrics.height()), top = whole.center().y() - high / 2;
    const QRectF label(layout.bars.left(), top, whole.left() - layout.bars.left() - 6, high);
    p.setPen(theme.text);
    p.drawText(label, Qt::AlignRight | Qt::AlignVCenter,
               metrics.elidedText(page.exits[e], Qt::ElideRight, label.width()));
    const double widest = std::max(bar.right(), marks.point != 0 ? layout.bar(e, share_at(ran.items, e)).right() : 0.0);
    p.drawText(QRectF(widest + 5, top, layout.bars.right() - widest, high), Qt::AlignLeft | Qt::AlignVCenter,
               percent_text(share_at(shown.items, e)));
  }
}

void paint_exit_axes(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  for (const double value : layout.ticks()) {
    const double y = layout.at(0, value).y();
    p.setPen(theme.grid);
    p.drawLine(QPointF(layout.plot.left(), y), QPointF(layout.plot.right(), y));
    p.setPen(theme.faint);
    p.drawText(QRectF(layout.plot.left() - 200, y - metrics.height() / 2, 194, metrics.height()),
               Qt::AlignRight | Qt::AlignVCenter, value_text(page, value));
  }
  const double widest = metrics.horizontalAdvance("100 %") + 4;
  const int step = layout.plot.width() > 5 * widest ? 2 : layout.plot.width() > 2 * widest ? 5 : 10;
  for (int tenth = 0; tenth <= 10; tenth += step) {
    const double x = layout.at(tenth / 10.0, 0).x();
    p.setPen(theme.faint);
    p.drawText(QRectF(x - 40, layout.plot.bottom() + 2, 80, metrics.height()), Qt::AlignHCenter,
               QString::number(10 * tenth) + " %");
  }
  p.setPen(theme.grid);
  p.setBrush(Qt::NoBrush);
  p.drawRect(layout.plot);
  p.setPen(QPen(theme.warn, 1, Qt::DashLine));
  if (page.target_value) {
    const double y = layout.at(0, *page.target_value).y();
    p.drawLine(QPointF(layout.plot.left(), y), QPointF(layout.plot.right(), y));
  }
  if (page.target_cost) {
    const double x = layout.at(*page.target_cost, 0).x();
    p.drawLine(QPointF(x, layout.plot.top()), QPointF(x, layout.plot.bottom()));
  }
}

void paint_interval(QPainter& p, const ShownPoint& point, const ExitsLayout& layout, const QColor& color) {
  if (!point.interval) return;
  p.setPen(QPen(color, 2));
  p.drawLine(layout.at(point.cost, (*point.interval)[0]), layout.at(point.cost, (*point.interval)[1]));
}

/// Quality against mean cost: one threshold for all exits as a line, those that ran as a ring, the point on show with
/// its interval.
void paint_curve(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                 const Theme& theme) {
  if (!page.has_curve()) {
    p.setPen(theme.faint);
    p.drawText(layout.plot, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, page.no_curve);
    return;
  }
  paint_exits_title(p, layout.plot, tr("%1 against mean operations; drag to choose").arg(page.measure), theme);
  paint_exit_axes(p, page, layout, theme);
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  QPainterPath line(layout.point(1));
  for (size_t n = 2; n < page.points.size(); ++n) line.lineTo(layout.point(n));
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.category(0), 2));
  p.drawPath(line);
  p.setPen(Qt::NoPen);
  p.setBrush(theme.category(0));
  for (size_t n = 1; n < page.points.size(); ++n) p.drawEllipse(layout.point(n), 2.5, 2.5);
  paint_interval(p, page.points[marks.point], layout, marks.point == 0 ? theme.text : theme.accent);
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.text, 2));
  p.drawEllipse(layout.point(0), 6, 6);
  if (marks.hovered) p.drawEllipse(layout.point(*marks.hovered), 4, 4);
  p.setBrush(theme.accent);
  p.setPen(Qt::NoPen);
  if (marks.point != 0) p.drawEllipse(layout.point(marks.point), 6, 6);
  p.restore();
}

void paint_classes(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                   const Theme& theme) {
  if (page.classes.empty()) return;
  const QFontMetricsF metrics(p.font());
  const size_t shown = layout.shown_classes();
  paint_exits_title(
      p, layout.classes,
      shown == page.classes.size()
          ? tr("By class, with the thresholds that ran")
          : tr("%1 of %2 classes, the table has all; with the thresholds that ran").arg(shown).arg(page.classes.size()),
      theme);
  for (size_t c = 0; c < shown; ++c) {
    const QRectF row = layout.class_row(c);
    const double begins = layout.class_part(c, 0).left();
    const bool marked = marks.label && *marks.label == page.classes[c].name;
    p.setPen(marked ? theme.accent : theme.text);
    p.drawText(QRectF(row.left(), row.top(), begins - row.left() - 6, row.height()), Qt::AlignRight | Qt::AlignVCenter,
               metrics.elidedText(page.classes[c].name, Qt::ElideRight, begins - row.left() - 6));
    for (size_t e = 0; e < page.exits.size(); ++e) {
      const QRectF part = layout.class_part(c, e);
      const QColor fill = page_exit_color(page, static_cast<int>(e), theme);
      p.fillRect(part, fill);
      const QString count = count_text(page.classes[c].items[e]);
      if (part.width() < metrics.horizontalAdvance(count) + 4 || part.height() < metrics.height() - 2) continue;
      p.setPen(Theme::text_on(fill));
      p.drawText(part, Qt::AlignCenter, count);
    }
  }
}

void paint_choice(QPainter& p, QRectF box, const ExitMarks& marks, const ExitItem& item, const Theme& theme) {
  if (!marks.chosen || *marks.chosen != item.sequence) return;
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.accent, 2));
  p.drawRect(box.adjusted(-1, -1, 1, 1));
}

/// Its frame is of the exit's colour.
void paint_picture(QPainter& p, QRectF box, const QImage& image, const QColor& frame, const Theme& theme) {
  p.fillRect(box, theme.surface);
  const QRectF inside = box.adjusted(2, 2, -2, -2);
  QRectF room({}, QSizeF(image.size()).scaled(inside.size(), Qt::KeepAspectRatio));
  room.moveCenter(inside.center());
  draw_image(p, room, image);
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(frame, 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  p.drawRect(box.adjusted(1, 1, -1, -1));
}

QString gallery_title(const ExitsPage& page) {
  const bool wrong = std::any_of(page.gallery.begin(), page.gallery.end(), [](const ExitItem& i) { return i.wrong; });
  return wrong ? tr("Some of each exit, those answered wrong first (label %1 answer)").arg(QChar(0x2192))
               : tr("Some of each exit, of every label in turn");
}

/// For a wrong answer the right one comes before the given one: any colour means only one of them.
QString wrong_text(const ExitItem& item) {
  return QString::fromStdString(item.label) + " " + QChar(0x2192) + " " + QString::fromStdString(item.answer);
}

void paint_gallery(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                   const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  if (!page.gallery.empty()) paint_exits_title(p, layout.gallery, gallery_title(page), theme);
  p.setPen(theme.faint);
  const QRectF note(layout.gallery.left(), layout.gallery.bottom() - metrics.height(), layout.gallery.width(),
                    metrics.height());
  p.drawText(note, Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(page.gallery_note, Qt::ElideRight, note.width()));
  for (size_t e = 0; e < page.exits.size() && !page.gallery.empty(); ++e) {
    const QRectF row = layout.gallery_row(e);
    if (row.height() < metrics.height()) continue;
    p.setPen(theme.text);
    p.drawText(QRectF(row.left(), row.top(), row.width(), metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
               page.exits[e]);
  }
  for (size_t i = 0; i < page.gallery.size(); ++i) {
    const QRectF box = layout.tile(i);
    if (box.isEmpty()) continue;
    const ExitItem& item = page.gallery[i];
    const QColor fill = page_exit_color(page, item.exit, theme);
    if (i < page.pictures.size() && !page.pictures[i].isNull()) {
      paint_picture(p, box, page.pictures[i], fill, theme);
      if (item.wrong) {
        p.setPen(theme.bad);
        p.drawText(layout.caption(i), Qt::AlignCenter,
                   metrics.elidedText(wrong_text(item), Qt::ElideRight, box.width()));
      }
      paint_choice(p, box, marks, item, theme);
      continue;
    }
    p.fillRect(box, fill);
    p.setPen(Theme::text_on(fill));
    const QString text = item.wrong           ? wrong_text(item)
                         : item.label.empty() ? tr("#%1").arg(item.sequence)
                                              : QString::fromStdString(item.label);
    p.drawText(box, Qt::AlignCenter, metrics.elidedText(text, Qt::ElideRight, box.width() - 4));
    if (item.wrong) {
      p.setBrush(Qt::NoBrush);
      p.setPen(QPen(theme.bad, 2));
      p.drawRect(box.adjusted(1, 1, -1, -1));
    }
    paint_choice(p, box, marks, item, theme);
  }
}

}  // namespace

void paint_exits(QPainter& p, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                 const Theme& theme) {
  paint_exits_headline(p, page, layout, marks, theme);
  paint_exit_bars(p, page, layout, marks, theme);
  paint_curve(p, page, layout, marks, theme);
  paint_classes(p, page, layout, marks, theme);
  paint_gallery(p, page, layout, marks, theme);
}

}  // namespace stormcell::views
