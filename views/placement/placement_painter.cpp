#include "views/placement/placement_painter.h"

#include <QPainterPath>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

#include "views/drawing/marks.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// Loads within chance are as light or dark as others, but grey.
QColor beside_chance(const QColor& color, bool within_chance) { return within_chance ? in_grey(color) : color; }

void paint_placement_headline(QPainter& p, const PlacementPage& page, const PlacementLayout& layout,
                              const PlacementMarks& marks, const Theme& theme) {
  const QRectF line(layout.headline.topLeft(), QSizeF(layout.headline.width(), layout.headline.height() / 3));
  p.setPen(theme.text);
  write_line(p, line, Qt::AlignLeft, page.headline);
  p.setPen(marks.fault.isEmpty() ? theme.faint : theme.bad);
  QString state = page.state;
  if (marks.taken && !marks.fault.isEmpty()) state = tr("It cannot come there: %1").arg(marks.fault);
  if (marks.taken && marks.fault.isEmpty())
    state = (marks.copies ? tr("A replica of expert %1") : tr("Expert %1 in the hand")).arg(marks.expert.branch) +
            (marks.target ? tr(": the figures are those of letting it go here") : tr(": choose where it comes"));
  write_line(p, line.translated(0, line.height()), Qt::AlignLeft, state);
  p.setPen(theme.faint);
  QString legend = tr("Square: an expert, its area the load here (%1); frame: not there at the start; dot: a replica; "
                      "bar: load of the GPU, mark: "
                      "the mean")
                       .arg(page.part);
  if (std::any_of(page.gpus.begin(), page.gpus.end(), PlacementLayout::is_beyond_bar))
    legend += tr(", arrow: beyond 200 %");
  if (page.within_chance(page.layer)) legend += tr("; grey: these loads are within chance");
  write_line(p, line.translated(0, 2 * line.height()), Qt::AlignLeft, legend);
}

/// One expert.
void paint_tile(QPainter& p, const PlacementPage& page, const ShownSlot& shown, QRectF tile,
                const PlacementMarks& marks, const Theme& theme) {
  const double share = page.most > 0 ? shown.load / page.most : 0;
  const QColor fill = beside_chance(theme.sequential(0.2 + 0.75 * share), page.within_chance(page.layer));
  p.fillRect(tile, fill);
  if (shown.moved) draw_frame(p, tile.adjusted(0.5, 0.5, -0.5, -0.5), theme.accent, 2);
  if (shown.replicas > 1 && tile.width() > 6) {
    p.setPen(Qt::NoPen);
    p.setBrush(Theme::text_on(fill));
    p.drawEllipse(QPointF(tile.right() - 3.5, tile.top() + 3.5), 1.8, 1.8);
  }
  const QFontMetricsF metrics(p.font());
  const QString name = QString::number(shown.branch);
  if (tile.width() > metrics.horizontalAdvance(name) + 3 && tile.height() > metrics.height() - 2) {
    p.setPen(Theme::text_on(fill));
    p.drawText(tile, Qt::AlignCenter, name);
  }
  if (marks.selected_branch == shown.branch) draw_frame(p, tile.adjusted(-1.5, -1.5, 1.5, 1.5), theme.text, 1.5);
}

/// Marks the end of a bar whose load is larger.
void paint_arrow(QPainter& p, QRectF bar, const Theme& theme) {
  constexpr double kLong = 7, kOver = 2.5;
  const QPolygonF arrow({QPointF(bar.right() - kLong, bar.top() - kOver), QPointF(bar.right(), bar.center().y()),
                         QPointF(bar.right() - kLong, bar.bottom() + kOver)});
  p.setPen(Qt::NoPen);
  p.setBrush(theme.bad);
  p.setRenderHint(QPainter::Antialiasing);
  p.drawPolygon(arrow);
  p.setRenderHint(QPainter::Antialiasing, false);
}

void paint_gpu(QPainter& p, const PlacementPage& page, const PlacementLayout& layout, size_t rank, const Theme& theme) {
  const QRectF box = layout.gpu(rank);
  p.fillRect(box, theme.surface);
  const QRectF title = layout.gpu_title(rank);
  if (!title.isEmpty()) {
    p.setPen(theme.faint);
    const QString name = title.width() > 16 * layout.digit() ? tr("GPU %1").arg(rank) : QString::number(rank);
    write_line(p, title, Qt::AlignLeft, name);
    p.setPen(theme.text);
    if (title.width() > 9 * layout.digit())
      write_line(p, title, Qt::AlignRight, QString::number(100 * page.gpus[rank], 'f', 0) + " %");
  }
  p.fillRect(layout.gpu_bar(rank, 2), theme.grid);
  const bool grey = page.within_chance(page.layer);
  p.fillRect(layout.gpu_bar(rank, page.gpus[rank]),
             beside_chance(page.gpus[rank] > 1.05 ? theme.warn : theme.category(0), grey));
  if (PlacementLayout::is_beyond_bar(page.gpus[rank])) paint_arrow(p, layout.gpu_bar(rank, 2), theme);
  const double mean = layout.gpu_bar(rank, 1).right(), before = layout.gpu_bar(rank, page.gpus_before[rank]).right();
  const QRectF bar = layout.gpu_bar(rank, 2);
  p.setPen(QPen(theme.text, 1));
  p.drawLine(QPointF(mean, bar.top() - 2), QPointF(mean, bar.bottom()));
  if (std::abs(before - layout.gpu_bar(rank, page.gpus[rank]).right()) < 1) return;
  p.setPen(QPen(theme.accent, 1.5));
  p.drawLine(QPointF(before, bar.top() - 1), QPointF(before, bar.bottom()));
}

void paint_cluster(QPainter& p, const PlacementPage& page, const PlacementLayout& layout, const PlacementMarks& marks,
                   const Theme& theme) {
  if (page.nodes > 1)
    for (int n = 0; n < page.nodes; ++n) draw_frame(p, layout.node(n), theme.grid, 1);
  for (size_t r = 0; r < page.gpus.size(); ++r) paint_gpu(p, page, layout, r, theme);
  const QFont usual = p.font();
  QFont small = usual;
  small.setPointSizeF(usual.pointSizeF() * 0.8);
  p.setFont(small);
  for (size_t s = 0; s < page.held.size(); ++s) {
    const QRectF cell = layout.cell(s);
    if (page.held[s].branch < 0)
      draw_frame(p, cell.adjusted(1, 1, -1, -1), theme.bad, 1, Qt::DashLine);
    else
      paint_tile(p, page, page.held[s], layout.tile(s), marks, theme);
    if (marks.hovered == s && !marks.taken) draw_frame(p, cell, theme.faint, 1);
    if (marks.focus == s) draw_frame(p, cell, theme.text, 1.5, Qt::DotLine);
    if (marks.taken == s) draw_frame(p, cell, theme.accent, 2, Qt::DashLine);
    if (marks.target == s) draw_frame(p, cell, marks.fault.isEmpty() ? theme.good : theme.bad, 2.5);
  }
  if (marks.taken && marks.hand) {
    QRectF tile = layout.tile(marks.expert, *marks.taken);
    tile.moveCenter(*marks.hand);
    p.setOpacity(0.7);
    paint_tile(p, page, marks.expert, tile, marks, theme);
    p.setOpacity(1);
  }
  p.setFont(usual);
}

/// Paints a part's figures from `y` on; returns the top of the next row.
double paint_part(QPainter& p, const std::vector<ShownFigure>& figures, const QString& part,
                  const PlacementLayout& layout, double y, const Theme& theme) {
  const QRectF room = layout.figures;
  const double row = layout.row(), digit = layout.digit(), value = 9.5 * digit, change = 8 * digit;
  const auto column = [&](double right, double wide) { return QRectF(right - wide, y, wide, row); };
  p.setPen(theme.faint);
  write_line(p, {room.left(), y, room.width() - 2 * value - change, row}, Qt::AlignLeft, part);
  write_line(p, column(room.right() - change - value, value), Qt::AlignRight, tr("before"));
  write_line(p, column(room.right() - change, value), Qt::AlignRight, tr("now"));
  for (const ShownFigure& f : figures) {
    y += row;
    if (y + row > room.bottom() + 1) break;  // the table has all
    p.setPen(theme.text);
    write_line(p, {room.left(), y, room.width() - 2 * value - change, row}, Qt::AlignLeft, f.name);
    write_line(p, column(room.right() - change - value, value), Qt::AlignRight, value_text(f, f.before));
    write_line(p, column(room.right() - change, value), Qt::AlignRight, value_text(f, f.now));
    if (!f.before || !f.now) continue;
    const QString difference = difference_text(f);
    p.setPen(difference.startsWith(QChar(0xb1)) ? theme.faint : *f.now < *f.before ? theme.good : theme.bad);  // ±
    write_line(p, column(room.right(), change), Qt::AlignRight, difference);
  }
  return y + row + PlacementLayout::kPartGap;
}

void paint_placement_figures(QPainter& p, const PlacementPage& page, const PlacementLayout& layout,
                             const Theme& theme) {
  const double y = paint_part(p, page.figures, page.part, layout, layout.figures.top(), theme);
  if (!page.other_part.isEmpty() && y + layout.row() <= layout.figures.bottom() + 1)
    paint_part(p, page.other_figures, page.other_part, layout, y, theme);
}

void paint_front_axes(QPainter& p, const PlacementLayout& layout, const Theme& theme) {
  const QRectF plot = layout.front;
  const double line = layout.line();
  const std::vector<double>&xs = layout.imbalance_ticks(), &ys = layout.pairs_ticks();
  for (const double x : xs) {
    const double at = layout.at({{}, x, ys.empty() ? 0 : ys[0]}).x();
    p.setPen(theme.grid);
    p.drawLine(QPointF(at, plot.top()), QPointF(at, plot.bottom()));
    p.setPen(theme.faint);
    p.drawText(QRectF(at - 40, plot.bottom() + 2, 80, line), Qt::AlignHCenter,
               QString::number(x, 'f', ValueAxis::decimals(xs)));
  }
  for (const double y : ys) {
    const double at = layout.at({{}, xs.empty() ? 0 : xs[0], y}).y();
    p.setPen(theme.grid);
    p.drawLine(QPointF(plot.left(), at), QPointF(plot.right(), at));
    p.setPen(theme.faint);
    p.drawText(QRectF(plot.left() - 90, at - line / 2, 85, line), Qt::AlignRight | Qt::AlignVCenter,
               QString::number(y, 'f', ValueAxis::decimals(ys)));
  }
  draw_frame(p, plot, theme.grid, 1);
  p.setPen(theme.faint);
  write_line(p, {plot.left(), plot.bottom() + line + 2, plot.width(), line}, Qt::AlignRight, tr("imbalance, fitted"));
}

void paint_front(QPainter& p, const PlacementPage& page, const PlacementLayout& layout, const Theme& theme) {
  const QRectF plot = layout.front;
  const QRectF title(layout.figures.left(), plot.top() - layout.line() - 4, layout.figures.width(), layout.line());
  p.setPen(theme.faint);
  if (!page.here)
    return write_line(p, title, Qt::AlignLeft, tr("No single choices here, so nothing is known of traffic"));
  if (!layout.has_chart()) {
    const QString point = tr("imbalance %1, cross pairs %2 (fitted)")
                              .arg(number_text(page.here->imbalance, 4), number_text(page.here->cross_pairs, 4));
    const QString text = page.front.empty()
                             ? tr("Now: %1; Solve adds a front of one against the other").arg(point)
                             : tr("The front of %1 is one point, which stands now: %2").arg(page.front_of, point);
    return p.drawText(QRectF(title.topLeft(), QPointF(title.right(), plot.bottom())), Qt::AlignLeft | Qt::TextWordWrap,
                      text);
  }
  QString what = page.front.empty() ? tr("Cross pairs against imbalance; Solve adds the front")
                                    : tr("Cross pairs against imbalance: the front of %1").arg(page.front_of);
  if (page.front.size() == 1) what += tr(", one point");
  write_line(p, title, Qt::AlignLeft, what);
  paint_front_axes(p, layout, theme);
  QPainterPath path;
  for (size_t i = 0; i < page.front.size(); ++i)
    i == 0 ? path.moveTo(layout.at(page.front[i])) : path.lineTo(layout.at(page.front[i]));
  p.setRenderHint(QPainter::Antialiasing);
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.category(0), 1.5));
  p.drawPath(path);
  p.setPen(Qt::NoPen);
  p.setBrush(theme.category(0));
  for (const FrontPoint& point : page.front) p.drawEllipse(layout.at(point), 3.5, 3.5);
  if (page.start) {
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme.text, 1.5));
    p.drawEllipse(layout.at(*page.start), 4.5, 4.5);
  }
  p.setPen(Qt::NoPen);
  p.setBrush(theme.accent);
  p.drawEllipse(layout.at(*page.here), 4, 4);
  p.setRenderHint(QPainter::Antialiasing, false);
}

void paint_layers(QPainter& p, const PlacementPage& page, const PlacementLayout& layout, const Theme& theme) {
  const double most = page.layers.empty() ? 0 : *std::max_element(page.layers.begin(), page.layers.end());
  bool any_grey = false;
  for (size_t l = 0; l < page.layers.size(); ++l) any_grey = any_grey || page.within_chance(l);
  p.setPen(theme.faint);
  write_line(p, {layout.cluster.left(), layout.layers.top() - layout.line() - 3, layout.cluster.width(), layout.line()},
             Qt::AlignLeft,
             tr("Imbalance of each layer (%1), at most %2%3; click one to see it")
                 .arg(page.part, number_text(most), any_grey ? tr("; grey: its loads are within chance") : QString()));
  const std::vector<double> ticks = layout.layer_ticks();
  for (const double tick : ticks) {
    const double y = layout.layer_tick(tick);
    p.setPen(theme.grid);
    p.drawLine(QPointF(layout.layers.left() - 3, y), QPointF(layout.layers.right(), y));
    p.setPen(theme.faint);
    // The lowest figure stands on its line, not below the picture.
    const double top = std::min(y - layout.line() / 2, layout.layers.bottom() - layout.line());
    p.drawText(QRectF(layout.cluster.left(), top, layout.layers.left() - layout.cluster.left() - 5, layout.line()),
               Qt::AlignRight | Qt::AlignVCenter, QString::number(tick, 'f', ValueAxis::decimals(ticks)));
  }
  for (size_t l = 0; l < page.layers.size(); ++l) {
    if (l == page.layer) p.fillRect(layout.layer(l), theme.surface);
    p.fillRect(layout.layer_bar(l),
               beside_chance(l == page.layer ? theme.accent : theme.category(0), page.within_chance(l)));
  }
}

}  // namespace

void paint_placement(QPainter& p, const PlacementPage& page, const PlacementLayout& layout, const PlacementMarks& marks,
                     const Theme& theme) {
  paint_placement_headline(p, page, layout, marks, theme);
  paint_placement_figures(p, page, layout, theme);
  paint_front(p, page, layout, theme);
  paint_layers(p, page, layout, theme);
  paint_cluster(p, page, layout, marks, theme);
}

}  // namespace stormcell::views
