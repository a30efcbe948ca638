#include "views/overview/overview_painter.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/value_axis.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

void paint_text(QPainter& p, const QRectF& at, int flags, const QString& what, const QFont& font, const QColor& color) {
  p.setFont(font);
  p.setPen(color);
  p.drawText(at, flags,
             flags & Qt::TextWordWrap ? what : QFontMetricsF(font).elidedText(what, Qt::ElideRight, at.width()));
}

/// A figure is never cut: its font gets smaller instead.
QFont fitting(QFont font, const QString& what, double width) {
  while (font.pointSizeF() > 6 && QFontMetricsF(font).horizontalAdvance(what) > width)
    font.setPointSizeF(font.pointSizeF() - 0.5);
  return font;
}

void card(QPainter& p, const QRectF& at, const Theme& theme) {
  p.setPen(QPen(theme.grid, 1));
  p.setBrush(theme.surface);
  p.drawRoundedRect(at.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

void card_title(QPainter& p, const QRectF& card, const OverviewGeometry& g, const QString& title, const QFont& font,
                const Theme& theme) {
  const QRectF at(card.left() + g.padding(), card.top() + 0.9 * g.unit(), card.width() - 2 * g.padding(),
                  1.5 * g.unit());
  paint_text(p, at, Qt::AlignLeft | Qt::AlignVCenter, title, scaled(font, 1.05, true), theme.text);
}

void paint_header(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const QFont& font,
                  const Theme& theme) {
  const QRectF h = g.header();
  const double u = g.unit();
  const QRectF first{h.left(), h.top(), h.width(), 1.3 * u};
  paint_text(p, first, Qt::AlignLeft | Qt::AlignVCenter, page.kicker, font, theme.faint);
  const QFont large = fitting(scaled(font, 2.1, true), page.headline, h.width());
  paint_text(p, {h.left(), h.top() + 1.35 * u, h.width(), 2.6 * u}, Qt::AlignLeft | Qt::AlignVCenter, page.headline,
             large, page.tone == Tone::plain ? theme.text : tone_color(page.tone, theme));
  const int wrap = g.two_columns() ? 0 : Qt::TextWordWrap;
  paint_text(p, {h.left(), h.top() + 4.05 * u, h.width(), h.height() - 4.05 * u}, Qt::AlignLeft | Qt::AlignTop | wrap,
             page.lead, font, theme.faint);
  if (note_is_beside(page, font, h.width()))
    return paint_text(p, first, Qt::AlignRight | Qt::AlignVCenter, page.notes.first(), font, theme.faint);
  for (int i = 0; i < page.notes.size(); ++i)
    paint_text(p, {h.left(), g.notes().top() + 1.5 * u * i, h.width(), 1.4 * u}, Qt::AlignLeft | Qt::AlignVCenter,
               page.notes[i], font, page.notes_tone == Tone::plain ? theme.faint : tone_color(page.notes_tone, theme));
}

/// The mark is plain if nothing was to be verified.
QColor proof_color(Tone tone, const Theme& theme) {
  return tone == Tone::plain ? theme.faint : tone_color(tone, theme);
}

/// A ring with a tick, a cross, an exclamation mark or a dash: drawn, since not every font has them.
void proof_mark(QPainter& p, const QRectF& at, Tone tone, const Theme& theme) {
  const QColor color = proof_color(tone, theme);
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  p.drawEllipse(at);
  p.setPen(QPen(theme.surface, at.width() / 8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const auto point = [&](double x, double y) {
    return QPointF(at.left() + x * at.width(), at.top() + y * at.height());
  };
  if (tone == Tone::good) {
    p.drawPolyline(QPolygonF{point(.28, .52), point(.44, .68), point(.73, .35)});
  } else if (tone == Tone::bad) {
    p.drawLine(point(.32, .32), point(.68, .68));
    p.drawLine(point(.68, .32), point(.32, .68));
  } else if (tone == Tone::plain) {
    p.drawLine(point(.3, .5), point(.7, .5));
  } else {
    p.drawLine(point(.5, .24), point(.5, .56));
    p.drawPoint(point(.5, .75));
  }
}

void paint_hero(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const QFont& font,
                const Theme& theme) {
  const QRectF box = g.hero();
  const double u = g.unit(), left = box.left() + g.padding(), width = box.width() - 2 * g.padding();
  card(p, box, theme);
  paint_text(p, {left, box.top() + 0.9 * u, width, 1.5 * u}, Qt::AlignLeft | Qt::AlignVCenter, page.hero.title,
             scaled(font, 0.9, true), theme.faint);
  const double value = g.value_height();
  const QFont large = fitting(scaled(font, value / 1.15, true), page.hero.value, width);
  paint_text(p, {left, box.top() + 2.5 * u, width, value * u}, Qt::AlignLeft | Qt::AlignVCenter, page.hero.value, large,
             page.hero.tone == Tone::plain ? theme.text : tone_color(page.hero.tone, theme));
  double y = box.top() + (2.6 + value) * u;
  paint_text(p, {left, y, width, 1.4 * u}, Qt::AlignLeft | Qt::AlignVCenter, page.hero.note,
             fitting(font, page.hero.note, width), theme.faint);
  y += 1.7 * u;
  if (page.hero.ratio) {
    p.setFont(scaled(font, 0.9));
    paint_ratio(p, {left, y, width, 2.6 * u}, page.hero, theme);
    y += 3.0 * u;
  }
  p.setPen(QPen(theme.grid, 1));
  p.drawLine(QPointF(left, y + 0.15 * u), QPointF(left + width, y + 0.15 * u));
  y += 0.6 * u;
  proof_mark(p, {left, y + 0.15 * u, 1.3 * u, 1.3 * u}, page.proof.tone, theme);
  paint_text(p, {left + 1.8 * u, y, width - 1.8 * u, 1.6 * u}, Qt::AlignLeft | Qt::AlignVCenter, page.proof.title,
             scaled(font, 1.15, true), proof_color(page.proof.tone, theme));
  paint_text(p, {left, y + 1.75 * u, width, box.bottom() - y - 1.9 * u},
             Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, page.proof.text, font, theme.text);
}

/// Two bars, one under the other, to the same scale; none if one of the plans has no such figure: it would look like a
/// zero.
void paint_pair(QPainter& p, const QRectF& at, const FigureRow& row, const Theme& theme) {
  const double most = std::max(row.before_value, row.after_value), height = at.height() / 2 - 1;
  if (most <= 0 || row.before.isEmpty() || row.after.isEmpty()) return;
  p.setPen(Qt::NoPen);
  QColor before = theme.faint;
  before.setAlphaF(0.55F);
  p.setBrush(before);
  p.drawRoundedRect(QRectF(at.left(), at.top(), std::max(2.0, at.width() * row.before_value / most), height), 2, 2);
  p.setBrush(theme.accent);
  p.drawRoundedRect(
      QRectF(at.left(), at.top() + height + 2, std::max(2.0, at.width() * row.after_value / most), height), 2, 2);
}

void paint_figure_row(QPainter& p, const FigureRow& row, const QRectF& at, bool both, const QFont& font,
                      const OverviewGeometry& g, const Theme& theme) {
  const bool columns = both && !row.apart;
  const double u = g.unit(), name = columns ? 0.33 * at.width() : 0.62 * at.width(), middle = at.center().y();
  paint_text(p, {at.left(), middle - 1.2 * u, name, 1.3 * u}, Qt::AlignLeft | Qt::AlignVCenter, row.name, font,
             theme.text);
  paint_text(p, {at.left(), middle + 0.05 * u, name, 1.1 * u}, Qt::AlignLeft | Qt::AlignVCenter, row.note,
             scaled(font, 0.82), theme.faint);
  if (!columns)
    return paint_text(p, {at.left() + name, at.top(), at.width() - name, at.height()},
                      Qt::AlignRight | Qt::AlignVCenter, row.before,
                      fitting(scaled(font, 1.35, !both), row.before, at.width() - name), theme.text);
  const double figure = 0.19 * at.width(), bars = 0.16 * at.width();
  double x = at.left() + name;
  for (const bool after : {false, true}) {
    const QString& what = after ? row.after : row.before;
    paint_text(p, {x, at.top(), figure - u, at.height()}, Qt::AlignRight | Qt::AlignVCenter, what,
               fitting(scaled(font, 1.35, after), what, figure - u), after ? theme.text : theme.faint);
    x += figure;
  }
  // Bars side by side would state the ratio, too.
  if (!row.remark.isEmpty())
    return paint_text(p, {x, at.top(), at.right() - x, at.height()}, Qt::AlignRight | Qt::AlignVCenter, row.remark,
                      fitting(scaled(font, 0.9), row.remark, at.right() - x), theme.warn);
  paint_pair(p, {x, middle - 0.5 * u, bars, u}, row, theme);
  paint_text(p, {x + bars, at.top(), at.right() - x - bars, at.height()}, Qt::AlignRight | Qt::AlignVCenter, row.change,
             font, theme.text);
}

void paint_figures(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const QFont& font,
                   const Theme& theme) {
  card(p, g.figures(), theme);
  card_title(p, g.figures(), g, page.figures_title, font, theme);
  const bool both = !page.after_title.isEmpty();
  const double u = g.unit();
  if (both) {
    const QRectF first = g.figure_row(0);
    const double y = first.top() - 1.3 * u, name = 0.33 * first.width(), figure = 0.19 * first.width();
    const QFont small = scaled(font, 0.9);
    paint_text(p, {first.left() + name, y, figure - u, 1.2 * u}, Qt::AlignRight | Qt::AlignVCenter, page.before_title,
               small, theme.faint);
    paint_text(p, {first.left() + name + figure, y, figure - u, 1.2 * u}, Qt::AlignRight | Qt::AlignVCenter,
               page.after_title, small, theme.accent);
    paint_text(p, {first.right() - 6 * u, y, 6 * u, 1.2 * u}, Qt::AlignRight | Qt::AlignVCenter, tr("change"), small,
               theme.faint);
  }
  for (size_t i = 0; i < page.figures.size(); ++i) {
    const QRectF at = g.figure_row(static_cast<int>(i));
    if (i > 0) {
      p.setPen(QPen(theme.grid, 1));
      p.drawLine(at.topLeft(), at.topRight());
    }
    paint_figure_row(p, page.figures[i], at, both, font, g, theme);
  }
}

}  // namespace

QColor tone_color(Tone tone, const Theme& theme) {
  switch (tone) {
    case Tone::good:
      return theme.good;
    case Tone::bad:
      return theme.bad;
    case Tone::warn:
      return theme.warn;
    case Tone::plain:
      break;
  }
  return theme.accent;
}

QFont scaled(const QFont& font, double factor, bool bold) {
  QFont result = font;
  result.setPointSizeF(font.pointSizeF() * factor);
  result.setBold(bold);
  return result;
}

double proof_lines(const OverviewPageModel& page, const QFont& font, double width) {
  constexpr double kRounding = 0.25;  // lines are laid out on whole pixels, a little apart
  const QFontMetricsF metrics(font);
  const double height =
      metrics.boundingRect(QRectF(0, 0, std::max(1.0, width), 1e6), Qt::TextWordWrap, page.proof.text).height();
  return std::ceil(height / metrics.height() - kRounding);
}

bool note_is_beside(const OverviewPageModel& page, const QFont& font, double width) {
  if (!page.hero.ratio || page.notes.size() != 1 || page.notes_tone != Tone::plain) return false;
  const QFontMetricsF metrics(font);
  return metrics.horizontalAdvance(page.kicker) + metrics.horizontalAdvance(page.notes.first()) +
             3 * metrics.height() <=
         width;
}

void paint_overview(QPainter& p, const OverviewPageModel& page, const OverviewGeometry& g, const Theme& theme) {
  const QFont font = p.font();
  p.setRenderHint(QPainter::Antialiasing);
  paint_header(p, page, g, font, theme);
  paint_hero(p, page, g, font, theme);
  paint_figures(p, page, g, font, theme);
  card(p, g.steps(), theme);
  card_title(p, g.steps(), g, tr("What to do next"), font, theme);
  card(p, g.chart(), theme);
  p.setFont(font);
  if (page.waterfall.empty()) {
    card_title(p, g.chart(), g,
               page.routers.empty() ? tr("No loads are recorded in this run")
                                    : tr("How evenly the routers used their branches"),
               font, theme);
    p.setFont(font);
    paint_routers(p, page, g, theme);
  } else {
    card_title(p, g.chart(), g, tr("Speed-up, pass by pass"), font, theme);
    p.setFont(font);
    paint_waterfall(p, page, g, theme);
  }
  paint_text(p, g.footer(), Qt::AlignLeft | Qt::AlignTop | (g.two_columns() ? 0 : Qt::TextWordWrap), page.footer,
             scaled(font, 0.9), theme.faint);
}

}  // namespace stormcell::views
