#include "views/diff/diff_painter.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "views/drawing/marks.h"
#include "views/drawing/tone_scale.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

enum DiffHue { kAll = 0, kBegins = 1, kGained = 2, kLost = 4 };

void write_bold(QPainter& p, const QRectF& where, const QString& text) {
  const QFont before = p.font();
  QFont bold = before;
  bold.setBold(true);
  p.setFont(bold);
  write_line(p, where, Qt::AlignLeft, text);
  p.setFont(before);
}

void paint_words(QPainter& p, const DiffWords& words, const DiffGeometry& g, const Theme& theme) {
  const double line = g.shape.line + 2;
  QRectF at(g.verdict.left(), g.verdict.top(), g.verdict.width(), line);
  p.setPen(theme.text);
  write_bold(p, at, words.verdict);
  at.translate(0, line);
  // Two lines: evidence has several clauses.
  p.drawText(QRectF(at.left(), at.top(), at.width(), 2 * line), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
             words.evidence);
  at.translate(0, 2 * line);
  for (const auto& [more, color] :
       {std::pair{words.next, theme.text}, {words.counts, theme.text}, {words.rest, theme.faint}}) {
    if (more.isEmpty()) continue;
    p.setPen(color);
    write_line(p, at, Qt::AlignLeft, more);
    at.translate(0, line);
  }
}

/// A square without cells is grey and hatched, so that it is no tone of the scale.
void paint_no_cell(QPainter& p, const QRectF& square, const Theme& theme) {
  p.fillRect(square, theme.grid);
  p.fillRect(square, QBrush(theme.faint, Qt::BDiagPattern));
}

void paint_map_axis(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const std::vector<QString>& names,
                    const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  p.setPen(theme.faint);
  const double high = g.map.height() / std::max(1, g.shape.layers);
  const int every_row = std::max(1, static_cast<int>(std::ceil(metrics.height() / high)));
  for (int layer = 0; layer < g.shape.layers; layer += every_row) {
    const QRectF row = g.square({layer, 0});
    const double middle = every_row > 1 ? row.top() + metrics.height() / 2 : row.center().y();
    write_line(p, {g.list.left(), middle - metrics.height() / 2, g.map.left() - g.list.left() - 6, metrics.height()},
               Qt::AlignRight, names[layer]);
  }
  const double wide = g.map.width() / std::max(1, g.shape.groups);
  const double needed = metrics.horizontalAdvance(QString::number(g.shape.groups * f.position_width)) + 8;
  const int every = std::max(1, static_cast<int>(std::ceil(needed / wide)));
  for (int group = 0; group < g.shape.groups; group += every) {
    const double x = g.square({0, group}).center().x();
    p.drawText(QRectF(x - needed / 2, g.axis.top(), needed, g.axis.height()), Qt::AlignHCenter | Qt::AlignTop,
               QString::number(group * f.position_width));
  }
}

void paint_map_scale(QPainter& p, double end, const DiffGeometry& g, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  paint_tone_scale(p, g.scale, ToneSides::one, even_ticks(end, 4, percent_text), theme);
  const double x = g.scale.right() + 14, side = g.scale.height();
  const QString words = tr("no cell in both");
  if (x + side + 4 + metrics.horizontalAdvance(words) > g.map.right()) return;
  paint_no_cell(p, {x, g.scale.top(), side, side}, theme);
  p.setPen(theme.faint);
  p.drawText(QPointF(x + side + 4, g.scale.top() + side), words);
}

void paint_map(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const std::vector<QString>& names,
               const DiffMarks& marks, const Theme& theme) {
  p.setPen(theme.text);
  write_line(p, g.map_title, Qt::AlignLeft,
             tr("Share of cells whose choices differ, by router and position (a: %1; b: %2)")
                 .arg(to_qstring(f.a).section('/', -1), to_qstring(f.b).section('/', -1)));
  const double end = end_of_scale(f);
  const bool gaps = g.square({0, 0}).width() > 5 && g.square({0, 0}).height() > 5;
  for (int layer = 0; layer < g.shape.layers; ++layer)
    for (int group = 0; group < g.shape.groups; ++group) {
      const QRectF square = g.square({layer, group}).adjusted(0, 0, gaps ? -1 : 0.5, gaps ? -1 : 0.5);
      if (const auto share = share_at_place(f, {layer, group}))
        p.fillRect(square, theme.sequential(*share / end));
      else
        paint_no_cell(p, square, theme);
    }
  draw_frame(p, g.map, theme.grid, 1);
  if (marks.hovered.there()) draw_frame(p, g.square(marks.hovered), theme.text, 1);
  if (marks.chosen.there()) {
    draw_frame(p, g.square(marks.chosen), theme.background, 4);
    draw_frame(p, g.square(marks.chosen), theme.accent, 2);
  }
  paint_map_axis(p, f, g, names, theme);
  paint_map_scale(p, end, g, theme);
}

QRectF title_row(const QRectF& area, double line) { return {area.left(), area.top(), area.width(), line + 4}; }

void paint_key(QPainter& p, QPointF at, const QString& text, const QColor& color, const Theme& theme) {
  p.fillRect(QRectF(at.x(), at.y() - 8, 9, 9), color);
  p.setPen(theme.faint);
  p.drawText(at + QPointF(13, 0), text);
}

void paint_margins(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const Theme& theme) {
  const double line = g.shape.line;
  p.setPen(theme.text);
  write_line(p, title_row(g.margins, line), Qt::AlignLeft, tr("Margins at the cut"));
  const QRectF body = g.margins.adjusted(0, line + 6, 0, 0);
  if (!f.margins) {
    p.setPen(theme.faint);
    p.drawText(body, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
               tr("Not recorded, so near ties cannot be told: %1.").arg(to_qstring(f.record_margins)));
    return;
  }
  const std::vector<MarginBar> bars = margin_bars(*f.margins, std::max(4, static_cast<int>(body.width() / 12)));
  double top = 0;
  for (const MarginBar& bar : bars) top = std::max({top, bar.of_all, bar.of_first});
  const QFontMetricsF metrics(p.font());
  paint_key(p, {body.left(), body.top() + metrics.ascent()}, tr("all cells"), theme.category(kAll), theme);
  paint_key(p, {body.left() + metrics.horizontalAdvance(tr("all cells")) + 30, body.top() + metrics.ascent()},
            tr("where a difference begins"), theme.category(kBegins), theme);
  const QRectF plot = body.adjusted(metrics.horizontalAdvance("00.0 %") + 6, line + 8, 0, -line - 4);
  if (!(top > 0) || plot.height() < 8) return;
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = plot.bottom() - share * plot.height();
    p.fillRect(QRectF(plot.left(), y, plot.width(), 1), theme.grid);
    p.setPen(theme.faint);
    p.drawText(QRectF(body.left(), y - line / 2, plot.left() - body.left() - 4, line),
               Qt::AlignRight | Qt::AlignVCenter, percent_text(share * top));
  }
  const double wide = plot.width() / static_cast<double>(bars.size());
  double free_from = plot.left() - 1;
  for (size_t i = 0; i < bars.size(); ++i) {
    const double x = plot.left() + static_cast<double>(i) * wide;
    const double all = bars[i].of_all / top * plot.height(), first = bars[i].of_first / top * plot.height();
    p.fillRect(QRectF(x, plot.bottom() - all, wide * 0.45, all), theme.category(kAll));
    p.fillRect(QRectF(x + wide * 0.45, plot.bottom() - first, wide * 0.45, first), theme.category(kBegins));
    const QString from = number_text(bars[i].from, 2);
    const double needed = metrics.horizontalAdvance(from) + 10;
    if (x < free_from || x + needed > plot.right() + 10) continue;
    p.setPen(theme.faint);
    p.drawText(QPointF(x, plot.bottom() + metrics.ascent() + 2), from);
    free_from = x + needed;
  }
}

void paint_experts(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const DiffMarks& marks,
                   const std::vector<QString>& names, const Theme& theme) {
  const double line = g.shape.line;
  const int layer = marks.chosen.layer;
  p.setPen(theme.text);
  write_line(
      p, title_row(g.experts, line), Qt::AlignLeft,
      layer < 0 ? tr("Experts that gain or lose in b") : tr("Experts of %1 that gain or lose in b").arg(names[layer]));
  const QRectF body = g.experts.adjusted(0, line + 6, 0, 0);
  const std::vector<MovedExpert> moved = moved_experts(f, layer);
  if (moved.empty()) {
    p.setPen(theme.faint);
    p.drawText(body, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, tr("None: each has as many cells in both."));
    return;
  }
  const double high = line + 3;
  const QFontMetricsF metrics(p.font());
  const double label = metrics.horizontalAdvance("#0000") + 8, figure = metrics.horizontalAdvance("+000,000") + 8;
  const QRectF plot = body.adjusted(label, high, -figure, 0);
  paint_key(p, {plot.left(), body.top() + metrics.ascent()}, tr("gains"), theme.category(kGained), theme);
  paint_key(p, {plot.left() + metrics.horizontalAdvance(tr("gains")) + 30, body.top() + metrics.ascent()}, tr("loses"),
            theme.category(kLost), theme);
  const double most = std::max<double>(1, static_cast<double>(std::abs(moved.front().net())));
  for (size_t i = 0; i < moved.size(); ++i) {
    const double y = plot.top() + static_cast<double>(i) * high;
    if (y + high > body.bottom()) break;
    const int64_t net = moved[i].net();
    const double middle = plot.center().x(), wide = std::abs(static_cast<double>(net)) / most * plot.width() / 2;
    p.setPen(theme.faint);
    write_line(p, {body.left(), y, label - 6, high}, Qt::AlignRight, QString("#%1").arg(moved[i].branch));
    p.fillRect(QRectF(net > 0 ? middle : middle - wide, y + 2, wide, high - 4),
               theme.category(net > 0 ? kGained : kLost));
    p.fillRect(QRectF(middle, y, 1, high), theme.grid);
    p.setPen(theme.text);
    write_line(p, {plot.right() + 4, y, figure - 4, high}, Qt::AlignRight,
               (net > 0   ? "+"
                : net < 0 ? QString(QChar(0x2212))
                          : QString()) +
                   count_text(std::abs(net)));
  }
}

void paint_sequences(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const Theme& theme) {
  const double line = g.shape.line, high = line + 3;
  p.setPen(theme.text);
  write_line(p, title_row(g.sequences, line), Qt::AlignLeft,
             tr("First differences: %1 of %2 differ")
                 .arg(count_text(f.sequences_differing), counted_text(f.matched_requests, "request")));
  const QRectF body = g.sequences.adjusted(0, line + 6, 0, 0);
  const int fit = std::max(0, static_cast<int>(body.height() / high));
  const int all = static_cast<int>(f.sequences.size()), shown = all > fit ? fit - 1 : all;
  for (int i = 0; i < shown; ++i) {
    const DiffSequence& s = f.sequences[i];
    const QRectF at(body.left(), body.top() + i * high, body.width(), high);
    p.setPen(theme.faint);
    write_line(p, {at.left(), at.top(), at.width() * 0.44, high}, Qt::AlignLeft,
               tr("request %1, position %2").arg(s.request).arg(s.position));
    p.setPen(theme.text);
    write_line(p, {at.left() + at.width() * 0.45, at.top(), at.width() * 0.2, high}, Qt::AlignLeft,
               token_text(s.token, s.text));
    p.setPen(theme.faint);
    write_line(p, {at.left() + at.width() * 0.66, at.top(), at.width() * 0.34, high}, Qt::AlignLeft,
               to_qstring(s.router));
  }
  p.setPen(theme.faint);
  if (all == 0) write_line(p, {body.left(), body.top(), body.width(), high}, Qt::AlignLeft, tr("None."));
  if (shown >= 0 && shown < all)
    write_line(p, {body.left(), body.top() + shown * high, body.width(), high}, Qt::AlignLeft,
               tr("%1 more in the table").arg(count_text(all - shown)));
}

/// Columns of the list, as parts of its width.
constexpr double kListColumns[] = {0, .11, .22, .38, .65, .92};

void paint_list_row(QPainter& p, const QRectF& at, const QStringList& words, const std::vector<QColor>& colors) {
  for (int c = 0; c < words.size(); ++c) {
    const double left = kListColumns[c], right = c + 1 < words.size() ? kListColumns[c + 1] : 1;
    p.setPen(colors[c % std::ssize(colors)]);
    write_line(p, {at.left() + left * at.width(), at.top(), (right - left) * at.width() - 6, at.height()},
               Qt::AlignLeft, words[c]);
  }
}

void paint_list(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const DiffMarks& marks,
                const std::vector<QString>& names, const Theme& theme) {
  p.setPen(theme.text);
  const QRectF title = g.list_line(-2);
  if (!marks.chosen.there())
    return write_line(p, title, Qt::AlignLeft, tr("Click a square of the map to see its cells."));
  const DiffGroup& group = f.layers[marks.chosen.layer].positions[marks.chosen.group];
  const std::vector<const DiffSample*> cells = samples_at(f, marks.chosen);
  QString words = tr("%1, %2: %3 of %4 differ")
                      .arg(names[marks.chosen.layer], positions_text(f, marks.chosen.group),
                           count_text(group.differing), counted_text(group.cells, "cell"));
  if (std::ssize(cells) < group.differing) words += tr("; %1 are listed").arg(count_text(std::ssize(cells)));
  if (std::any_of(cells.begin(), cells.end(), [](const DiffSample* s) { return s->consequence; }))
    words += tr("; grey: an earlier router differs, too");
  write_line(p, title, Qt::AlignLeft, words);
  if (cells.empty()) return;
  const bool has_scores = std::ranges::any_of(
      cells, [](const DiffSample* s) { return !s->scores_a.empty() || !s->scores_b.empty(); });
  const QString scored = has_scores ? tr(" (score)") : QString();
  paint_list_row(p, g.list_line(-1),
                 {tr("request"), tr("position"), tr("token"), tr("choices of a%1").arg(scored),
                  tr("choices of b%1").arg(scored), tr("margin")},
                 {theme.faint});
  for (int line = 0; line < g.list_lines(); ++line) {
    const int i = marks.first_line + line;
    if (i >= static_cast<int>(cells.size())) break;
    const DiffSample& s = *cells[i];
    paint_list_row(
        p, g.list_line(line),
        {QString::number(s.request), QString::number(s.position), token_text(s.token, s.text),
         choices_with_scores(s, DiffSide::a), choices_with_scores(s, DiffSide::b),
         s.margin ? number_text(*s.margin, 2) : QString(QChar(0x2013))},
        {s.consequence ? theme.faint : theme.text});
  }
}

}  // namespace

int lines_of_words(const DiffWords& words) {
  return 4 + (words.next.isEmpty() ? 0 : 1) + (words.rest.isEmpty() ? 0 : 1);
}

std::vector<ColorMeaning> diff_meanings(const Theme& theme) {
  return {{tr("all cells"), theme.category(kAll)},
          {tr("where a difference begins"), theme.category(kBegins)},
          {tr("gains"), theme.category(kGained)},
          {tr("loses"), theme.category(kLost)}};
}

void paint_diff(QPainter& p, const DifferenceFigures& f, const DiffGeometry& g, const std::vector<QString>& names,
                const DiffMarks& marks, const Theme& theme) {
  paint_words(p, words_of(f), g, theme);
  paint_map(p, f, g, names, marks, theme);
  paint_list(p, f, g, marks, names, theme);
  paint_margins(p, f, g, theme);
  paint_experts(p, f, g, marks, names, theme);
  paint_sequences(p, f, g, theme);
}

}  // namespace stormcell::views
