#include "views/graph/graph_painter.h"

#include <algorithm>

#include "views/drawing/margin.h"
#include "views/drawing/tone_scale.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

bool has_branch(const GraphSquare& s, int32_t branch) { return branch >= s.first && branch < s.first + s.branches; }

void paint_title(QPainter& p, const GraphPage& page, const GraphLayout& layout, const GraphMarks& marks,
                 const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const QString what = graph_caption(page);
  p.setPen(theme.text);
  p.drawText(layout.title, Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(what, Qt::ElideRight, layout.title.width()));
  if (marks.way_text.isEmpty()) return;
  const double used = metrics.horizontalAdvance(what) + 16;
  if (used > layout.title.width() - 40) return;
  const QRectF rest = layout.title.adjusted(used, 0, 0, 0);
  p.setPen(theme.accent);
  p.drawText(rest, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(marks.way_text, Qt::ElideRight, rest.width()));
}

/// Edges are wider for more transitions; an edge without cells is dotted, one that was not counted dashed.
void paint_edges(QPainter& p, const GraphPage& page, const GraphLayout& layout, const GraphMarks& marks,
                 const Theme& theme) {
  const bool way = !marks.way.stops.empty();
  // Edges of the chosen cell's way and the one under the pointer are drawn last, above the others.
  for (const bool above : {false, true})
    for (size_t e = 0; e < page.layout.edges.size(); ++e) {
      const PlaceEdge& edge = page.layout.edges[e];
      const bool on_way = way && marks.way.goes(static_cast<int32_t>(e)), hovered = marks.edge == e;
      if ((on_way || hovered) != above) continue;
      QColor color = hovered ? theme.text : on_way ? theme.accent : theme.faint;
      if (!above) color.setAlphaF(way ? 0.3F : 0.65F);
      const bool counted = !edge.edges.empty();
      QPen pen(color, layout.edge_width(e),
               counted && edge.cells > 0 ? Qt::SolidLine
               : counted                 ? Qt::DotLine
                                         : Qt::DashLine);
      pen.setCapStyle(Qt::FlatCap);
      p.strokePath(layout.edge(e), pen);
    }
}

/// "branch 3", "4–7"
QString branch_text(const GraphPage& page, int32_t router, const GraphSquare& s) {
  return s.branches == 1 ? branches_text(page, router, s) : tr("%1\u2013%2").arg(s.first).arg(s.first + s.branches - 1);
}

/// True if the mark of a chosen cell's way has room below the words.
bool is_tall(const QRectF& box, const QFontMetricsF& metrics) { return box.height() > 5 * metrics.height(); }

void paint_square(QPainter& p, const GraphPage& page, int32_t router, const QRectF& box, const GraphSquare& s,
                  const Theme& theme) {
  // A branch without cells is an outline, as in the heatmap.
  if (s.cells == 0) {
    p.setPen(theme.grid);
    p.setBrush(theme.background);
    p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    return;
  }
  const QColor fill = square_color(page, router, s, theme);
  p.fillRect(box, fill);
  const QFontMetricsF metrics(p.font());
  const QString share = percent_text(s.value);
  constexpr double kDot = 12;  // room for the mark of a chosen cell's way
  const QString branch = branch_text(page, router, s);
  const double beside = is_tall(box, metrics) ? 2 : kDot;
  if (metrics.horizontalAdvance(share) + 2 * beside > box.width() || metrics.height() - 2 > box.height()) return;
  const bool numbered =
      box.height() > 2.5 * metrics.height() && metrics.horizontalAdvance(branch) + 2 * beside <= box.width();
  p.setPen(Theme::text_on(fill));
  p.drawText(box, Qt::AlignCenter, numbered ? branch + "\n" + share : share);
}

void paint_taken(QPainter& p, const GraphPage& page, int32_t router, const QRectF& box, const GraphSquare& s,
                 const Theme& theme) {
  const double size = std::clamp(std::min(box.width(), box.height()) / 2, 3.0, 7.0);
  const QColor fill = s.cells == 0 ? theme.background : square_color(page, router, s, theme);
  p.setPen(QPen(Theme::text_on(fill), 1));
  p.setBrush(theme.accent);
  if (is_tall(box, QFontMetricsF(p.font()))) {
    p.drawEllipse(QPointF(box.center().x(), box.bottom() - 12), size / 2, size / 2);
    return;
  }
  // The mark is in a corner if a percentage is in the middle.
  const bool wide = box.width() > 40;
  p.drawEllipse(wide ? QPointF(box.left() + 6, box.center().y()) : box.center(), size / 2, size / 2);
}

void paint_head(QPainter& p, const GraphPage& page, const GraphLayout& layout, size_t card, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const double share = page.place(card).share;
  const QRectF head = layout.head(card);
  p.setPen(share > 0 ? theme.text : theme.faint);
  const QRectF inside = head.adjusted(3, 0, -3, 0);
  const GraphCard& of = page.cards[card];
  const QString percent = percent_text(share);
  const double room = inside.width() - metrics.horizontalAdvance(percent) - 8;
  const auto fits = [&](const QString& name, double into) { return metrics.horizontalAdvance(name) <= into; };
  const bool both = fits(of.tight, room);
  if (both) p.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, percent);
  const QString& name = fits(of.name, both ? room : inside.width()) ? of.name : of.tight;
  // Ends of names tell more than their beginnings.
  p.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideLeft, inside.width()));
}

/// Paints the guards' hits and misses below a card. A triangle marks misses, so that colour is not the only sign.
void paint_guards(QPainter& p, const GraphPage& page, const GraphLayout& layout, size_t card, const Theme& theme) {
  const auto guards = guards_of(page, card);
  if (!guards) return;
  const QFontMetricsF metrics(p.font());
  const QRectF at(layout.card(card).left(), layout.card(card).bottom() + 1, layout.card(card).width(),
                  metrics.height());
  const double side = 0.6 * metrics.height();
  const QRectF mark(at.left() + 2, at.center().y() - side / 2, side, side);
  p.setPen(Qt::NoPen);
  p.setBrush(guards->misses > 0 ? theme.warn : theme.good);
  if (guards->misses > 0)
    p.drawPolygon(QPolygonF({mark.bottomLeft(), QPointF(mark.center().x(), mark.top()), mark.bottomRight()}));
  else
    p.drawEllipse(mark);
  // Between close cards, only the mark has room.
  constexpr double kBetween = 0.25;  // of a card's height: as GraphLayout leaves it
  if (kBetween * layout.card(card).height() < metrics.height() + 2) return;
  const QRectF words = at.adjusted(side + 7, 0, 0, 0);
  const QString held = count_text(guards->hits), missed = count_text(guards->misses),
                whole = tr("guard held %1, missed %2").arg(held, missed), brief = tr("%1 / %2").arg(held, missed);
  p.setPen(theme.faint);
  p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(metrics.horizontalAdvance(whole) <= words.width() ? whole : brief, Qt::ElideRight,
                                words.width()));
}

void paint_card(QPainter& p, const GraphPage& page, const GraphLayout& layout, size_t card, const GraphMarks& marks,
                const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  p.fillRect(layout.card(card), theme.surface);
  paint_head(p, page, layout, card, theme);
  bool chosen = false;
  for (size_t r = 0; r < page.cards[card].rows.size(); ++r) {
    const GraphRow& row = page.cards[card].rows[r];
    const GraphWay::Stop* stop = marks.way.at(row.router);
    if (const QRectF name = layout.row_name(card, r); !name.isEmpty()) {
      p.setPen(theme.faint);
      p.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                 metrics.elidedText(row.name, Qt::ElideRight, name.width() - 3));
    }
    chosen = chosen || row.router == marks.router;
    for (size_t s = 0; s < row.squares.size(); ++s) {
      const QRectF box = layout.square({card, r, s});
      const GraphSquare& square = row.squares[s];
      paint_square(p, page, row.router, box, square, theme);
      if (stop &&
          std::any_of(stop->branches.begin(), stop->branches.end(), [&](int32_t b) { return has_branch(square, b); }))
        paint_taken(p, page, row.router, box, square, theme);
      if (row.router != marks.router || !has_branch(square, marks.branch)) continue;
      p.setBrush(Qt::NoBrush);
      p.setPen(QPen(theme.accent, 2));
      p.drawRect(box);
    }
  }
  paint_guards(p, page, layout, card, theme);
  const bool on_way = marks.way.computes(static_cast<int32_t>(card));
  p.setBrush(Qt::NoBrush);
  p.setPen(chosen || on_way ? QPen(theme.accent, chosen ? 2.5 : 1.5) : QPen(theme.faint, 1));
  p.drawRect(layout.card(card));
}

/// The width of the legend's scale, which stands before its words, with the gap between. Colours of branches have none.
double scale_width(const GraphPage& page, double legend_width) {
  return page.tells_branches() ? 0 : std::min(220.0, legend_width * 0.3);
}
double scale_room(const GraphPage& page, double legend_width) {
  constexpr double kScaleGap = 12;
  return page.tells_branches() ? 0 : scale_width(page, legend_width) + kScaleGap;
}

QString legend_text(const GraphPage& page) {
  if (!page.tells_branches())
    return text_of(page.value).definition +
           (page.has_grey() ? tr(". Grey: the router's loads are within chance") : QString());
  if (page.scheme == BranchScheme::cluster)
    return tr("A colour: branches of a router that are busy in the same batches. Grey: of several such clusters");
  for (const auto& [router, key] : page.keys)
    if (key.chosen >= 0)
      return tr("In colour: branch %1 of %2. Grey: all others").arg(key.chosen).arg(to_qstring(router));
  return tr("Choose a branch: it stands out, and the others are grey");
}

QString legend_title(const GraphPage& page) {
  if (page.tells_branches())
    return tr("Squares are branches. In them: %1. Beside a name: the share of cells that were computed there")
        .arg(text_of(page.value).name.toLower());
  return tr("Squares are branches, coloured by %1. Beside a name: the share of cells that were computed there")
      .arg(text_of(page.value).name.toLower());
}

double wrapped_height(const QFontMetricsF& metrics, double width, const QString& text) {
  constexpr double kAnyHeight = 10'000;
  return std::max(
      metrics.height(),
      metrics.boundingRect(QRectF(0, 0, width, kAnyHeight), Qt::AlignLeft | Qt::TextWordWrap, text).height());
}

void paint_legend(QPainter& p, const GraphPage& page, const GraphLayout& layout, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const QRectF& room = layout.legend;
  const double width = scale_width(page, room.width());
  const auto figure = [](double value) { return value > 0 ? percent_text(value) : QString("0"); };
  if (!page.tells_branches())
    paint_tone_scale(p, {room.left(), room.top() + 2, width, 10}, ToneSides::one, even_ticks(page.high, 4, figure),
                     theme);
  QRectF words = room.adjusted(scale_room(page, room.width()), -2, 0, -2);
  const auto write = [&](const QColor& color, const QString& text) {
    p.setPen(color);
    p.drawText(words, Qt::AlignLeft | Qt::TextWordWrap, text);
    words.setTop(words.top() + wrapped_height(metrics, words.width(), text));
  };
  write(theme.text, legend_title(page));
  write(theme.faint, legend_text(page));
}

}  // namespace

double graph_legend_height(const QFontMetricsF& metrics, const GraphPage& page, double width) {
  const double room = std::max(10.0, width - 2 * kMargin), words = room - scale_room(page, room);
  return wrapped_height(metrics, words, legend_title(page)) + wrapped_height(metrics, words, legend_text(page));
}

void paint_graph(QPainter& p, const GraphPage& page, const GraphLayout& layout, const GraphMarks& marks,
                 const Theme& theme) {
  paint_title(p, page, layout, marks, theme);
  p.save();
  p.setRenderHint(QPainter::Antialiasing);
  paint_edges(p, page, layout, marks, theme);
  for (size_t c = 0; c < page.cards.size(); ++c) paint_card(p, page, layout, c, marks, theme);
  p.restore();
  paint_legend(p, page, layout, theme);
}

}  // namespace stormcell::views
