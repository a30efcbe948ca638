#include "views/transitions/transitions_painter.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/tone_scale.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QString pair_figure(const PairMatrix& m, double v) {
  if (!std::isfinite(v)) return {};
  if (m.shown == PairValue::share) return v > 0 && v < 0.005 ? QString("<1%") : QString::number(100 * v, 'f', 0) + "%";
  if (m.shown == PairValue::lift) return QString::number(v, 'f', v < 9.95 ? 1 : 0);
  return v >= 1e6   ? QString::number(v / 1e6, 'f', 1) + "M"
         : v >= 1e4 ? QString::number(v / 1e3, 'f', 0) + "k"
                    : QString::number(v, 'f', 0);
}

/// The tone of a pair. What is within chance is as light or dark as its value, but grey.
QColor tone_of_pair(const PairMatrix& m, int row, int column, const Theme& theme) {
  const QColor tone = theme.tone(m.tone[m.at(row, column)], m.two_sided());
  return m.is_grey(row, column) ? in_grey(tone) : tone;
}

QImage tone_image(const PairMatrix& m, const Theme& theme) {
  QImage image(std::max(1, m.columns), std::max(1, m.rows), QImage::Format_RGB32);
  for (int r = 0; r < m.rows; ++r) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(r));
    for (int c = 0; c < m.columns; ++c) line[c] = tone_of_pair(m, r, c, theme).rgb();
  }
  return image;
}

void paint_labels(QPainter& p, const PairGrid& g, const PairMatrix& m, const PairMarks& marks, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const int rows = std::max(1, static_cast<int>(std::ceil(metrics.height() / g.row_height())));
  const int columns = std::max(1, static_cast<int>(std::ceil((metrics.horizontalAdvance("000") + 6) / g.side())));
  for (int r = 0; r < m.rows; ++r) {
    if (r % rows && r != marks.row) continue;
    p.setPen(r == marks.row ? theme.accent : theme.faint);
    p.drawText(QRectF(g.area.left() - 60, g.cell(r, 0).center().y() - metrics.height() / 2, 54, metrics.height()),
               Qt::AlignRight | Qt::AlignVCenter, QString::number(r));
  }
  for (int c = 0; c < m.columns; ++c) {
    if (c % columns && c != marks.column) continue;
    p.setPen(c == marks.column ? theme.accent : theme.faint);
    p.drawText(QRectF(g.cell(0, c).center().x() - 30, g.area.top() - metrics.height() - 2, 60, metrics.height()),
               Qt::AlignCenter, QString::number(c));
  }
}

}  // namespace

void paint_pairs(QPainter& p, QRectF bounds, const PairGrid& g, const PairMatrix& m, const PairMarks& marks,
                 const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  p.setPen(theme.text);
  p.drawText(QRectF(bounds.left(), bounds.top(), bounds.width(), metrics.height() + 2),
             Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(m.title, Qt::ElideMiddle, bounds.width()));
  p.setRenderHint(QPainter::SmoothPixmapTransform, false);
  p.drawImage(g.area, tone_image(m, theme));
  const bool figures = g.side() >= metrics.horizontalAdvance("100%") + 4 && g.row_height() >= metrics.height() + 2;
  for (int r = 0; r < m.rows && figures; ++r)
    for (int c = 0; c < m.columns; ++c) {
      if (m.count[m.at(r, c)] == 0) continue;  // an empty square says so better than a nought
      p.setPen(Theme::text_on(tone_of_pair(m, r, c, theme)));
      p.drawText(g.cell(r, c), Qt::AlignCenter, pair_figure(m, m.value[m.at(r, c)]));
    }
  if (g.side() >= 8 && g.row_height() >= 8) {
    p.setPen(theme.background);
    for (int r = 0; r <= m.rows; ++r) p.drawLine(g.cell(r, 0).topLeft(), QPointF(g.area.right(), g.cell(r, 0).top()));
    for (int c = 0; c <= m.columns; ++c)
      p.drawLine(g.cell(0, c).topLeft(), QPointF(g.cell(0, c).left(), g.area.bottom()));
  }
  p.setBrush(Qt::NoBrush);
  p.setPen(theme.grid);
  p.drawRect(g.area);
  p.setPen(QPen(theme.accent, 2));
  if (marks.row >= 0 && marks.row < m.rows)
    p.drawRect(QRectF(g.cell(marks.row, 0).topLeft(), g.cell(marks.row, m.columns - 1).bottomRight()));
  if (marks.column >= 0 && marks.column < m.columns)
    p.drawRect(QRectF(g.cell(0, marks.column).topLeft(), g.cell(m.rows - 1, marks.column).bottomRight()));
  p.setPen(QPen(theme.text, 1.5));
  if (marks.hovered) p.drawRect(g.cell(marks.hovered->first, marks.hovered->second));
  paint_labels(p, g, m, marks, theme);
}

void paint_pair_scale(QPainter& p, QRectF bounds, const PairMatrix& m, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const double width = std::min(220.0, bounds.width() * 0.3);
  // The tone of lift is its logarithm: each tick is twice the one before.
  const std::vector<ToneTick> lifts{{0, "1/4"}, {0.25, "1/2"}, {0.5, "1"}, {0.75, "2"}, {1, "4"}};
  const auto words_of = [&](double value) { return value > 0 ? pair_figure(m, value) : QString("0"); };
  paint_tone_scale(p, {bounds.left(), bounds.top() + 2, width, 10}, m.two_sided() ? ToneSides::two : ToneSides::one,
                   m.two_sided() ? lifts : even_ticks(m.high, 4, words_of), theme);
  const PairText text = text_of(m.shown);
  const QRectF words = bounds.adjusted(width + 12, 0, 0, 0);
  p.setPen(theme.text);
  p.drawText(QRectF(words.left(), words.top() - 2, words.width(), metrics.height()), Qt::AlignLeft, text.name);
  p.setPen(theme.faint);
  p.drawText(QRectF(words.left(), words.top() + metrics.height() - 2, words.width(), metrics.height()), Qt::AlignLeft,
             metrics.elidedText(text.definition, Qt::ElideRight, words.width()));
}

namespace {

/// Words on the colours of branches that go on after others; empty: each branch has a hue of its own.
QString colours_text(const FlowRibbons& f) {
  switch (f.scheme()) {
    case BranchScheme::load: {
      const bool ranked = std::ranges::any_of(f.keys, [](const BranchKey& key) { return !key.ranks.empty(); });
      return ranked ? tr("; the busier a branch, the stronger its tone") : QString();
    }
    case BranchScheme::cluster:
      return tr("; a colour: branches of a router that are busy in the same batches");
    case BranchScheme::one: {
      const auto chosen = std::ranges::find_if(f.keys, [](const BranchKey& key) { return key.chosen >= 0; });
      if (chosen == f.keys.end()) return tr("; choose a branch: it stands out, and the others are grey");
      return tr("; in colour: branch %1 of %2")
          .arg(chosen->chosen)
          .arg(QString::fromStdString(f.columns[chosen - f.keys.begin()].name));
    }
  }
  return {};
}

}  // namespace

QString flow_caption(const FlowRibbons& f) {
  const QString grey = f.has_grey() ? tr("; grey: within chance") : QString();
  const auto ribbons = std::ssize(f.ribbons);
  if (ribbons == f.pairs) {
    return tr("all %1 that any cell took; height: cells%2%3")
        .arg(counted_text(ribbons, "pair of branches", "pairs of branches"), colours_text(f), grey);
  }
  const QString drawn = tr("%1 of %2 pairs, %3 % of all transitions")
                            .arg(ribbons)
                            .arg(count_text(f.pairs))
                            .arg(100 * f.drawn(), 0, 'f', 1);
  if (!f.colours_chains()) return tr("%1; height: cells%2%3").arg(drawn, colours_text(f), grey);
  return tr("%1; the %2 hottest chains of pairs in colour%3; height: cells")
      .arg(drawn)
      .arg(std::min<size_t>(f.chains.size(), kChainsInColour))
      .arg(f.has_grey() ? tr(", what is within chance in grey") : QString());
}

namespace {

QString brief(int64_t count) {
  const double c = count;
  return c >= 1e6   ? QString::number(c / 1e6, 'f', 1) + "M"
         : c >= 1e4 ? QString::number(c / 1e3, 'f', 0) + "k"
                    : QString::number(count);
}

QColor colour_in_scheme(const FlowRibbons& f, const FlowRibbons::Ribbon& r, const Theme& theme) {
  if (f.colours_chains()) return f.in_colour(r) ? theme.category(r.chain) : theme.faint;
  const FlowRibbons::Step& step = f.steps[r.step];
  // Ribbons to the one branch stand out as those that leave it.
  const bool comes = f.scheme() == BranchScheme::one && f.keys[step.to].chosen == r.to;
  return comes ? branch_color(r.to, f.keys[step.to], theme) : branch_color(r.from, f.keys[step.from], theme);
}

/// Ribbons within chance are as light or dark as their branch, but grey.
QColor ribbon_color(const FlowRibbons& f, const FlowRibbons::Ribbon& r, const Theme& theme) {
  const QColor color = colour_in_scheme(f, r, theme);
  return r.beside == PairBeside::within ? in_grey(color) : color;
}

/// Draws the pairs without a ribbon, step by step, with their figures if they have room.
void paint_lane(QPainter& p, const FlowRibbons& f, const RibbonLayout& layout, int hovered, const Theme& theme) {
  if (layout.lane.isEmpty()) return;
  const QFontMetricsF metrics(p.font());
  p.setPen(theme.faint);
  p.drawText(
      QRectF(layout.lane.left(), layout.lane.top() - metrics.height() - 3, layout.lane.width(), metrics.height()),
      Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(tr("The other pairs, merged: their share of each step's cells"), Qt::ElideRight,
                         layout.lane.width()));
  const double width = layout.lane_step(0, 1).width(), widest = metrics.horizontalAdvance("100%");
  const int every = std::max(1, static_cast<int>(std::ceil((widest + 4) / width)));
  for (int s = 0; s < layout.steps && s < static_cast<int>(f.merged.size()); ++s)
    p.fillRect(layout.lane_step(s, f.merged_share(static_cast<size_t>(s))), hovered == s ? theme.faint : theme.grid);
  for (int s = 0; s < layout.steps && s < static_cast<int>(f.merged.size()); s += every) {
    const double share = f.merged_share(static_cast<size_t>(s));
    const QRectF whole = layout.lane_step(s, 1);
    p.setPen(hovered == s ? Theme::text_on(theme.faint) : theme.text);
    const QString percent = share > 0 && share < 0.005 ? QString("<1%") : QString::number(100 * share, 'f', 0) + "%";
    const QString count = brief(f.merged[s]);
    const bool both = whole.height() >= 2 * metrics.height() && metrics.horizontalAdvance(count) + 4 <= width;
    // A figure wider than its step stays within the lane.
    const double wide = std::max(whole.width(), widest), left = whole.center().x() - wide / 2;
    const double at = std::clamp(left, layout.lane.left(), std::max(layout.lane.left(), layout.lane.right() - wide));
    p.drawText(QRectF(at, whole.top(), wide, whole.height()), Qt::AlignCenter, both ? percent + "\n" + count : percent);
  }
  p.setPen(theme.grid);
  p.setBrush(Qt::NoBrush);
  p.drawRect(layout.lane);
}

/// Paints numbers beside bars that are high enough for them; smaller ones if columns are close, and none if they are
/// closer still.
void paint_branches(QPainter& p, const RibbonLayout& layout, const FlowMarks& marks, const Theme& theme) {
  if (layout.nodes.empty()) return;
  constexpr double kSmallest = 0.65, kSpace = 2;
  int most = 0;
  for (const RibbonLayout::Node& n : layout.nodes) most = std::max(most, n.branch);
  const QString widest(QString::number(most).size(), '0');
  const double room = layout.gap - 2 * kSpace,
               fits = room / std::max(1.0, QFontMetricsF(p.font()).horizontalAdvance(widest));
  if (fits < kSmallest) return;
  p.save();
  QFont font = p.font();
  font.setPointSizeF(font.pointSizeF() * std::min(1.0, fits));
  p.setFont(font);
  p.setPen(theme.text);
  const QFontMetricsF metrics(font);
  const bool last_has_room = fits >= 2.5;  // left of its bars, beside the numbers of the column before
  for (const RibbonLayout::Node& n : layout.nodes) {
    const bool marked = n.column == marks.column && n.branch == marks.branch, last = n.column == layout.last_column;
    if (n.box.height() < metrics.height() - 3 || (n.category < 0 && !marked) || (last && !last_has_room)) continue;
    const QRectF label(last ? n.box.left() - 44 : n.box.right() + kSpace + 2, n.box.center().y() - metrics.height() / 2,
                       40, metrics.height());
    p.drawText(label, (last ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, QString::number(n.branch));
  }
  p.restore();
}

}  // namespace

void paint_flow(QPainter& p, QRectF bounds, double header, const FlowRibbons& f, const RibbonLayout& layout,
                const std::vector<QString>& names, const FlowMarks& marks, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  p.setRenderHint(QPainter::Antialiasing);
  int hovered_step = -1;
  for (size_t b = 0; b < layout.bands.size(); ++b) {
    const RibbonLayout::Band& band = layout.bands[b];
    const bool hovered = static_cast<int>(b) == marks.band;
    if (band.ribbon < 0) {
      if (hovered) hovered_step = -1 - band.ribbon;
      continue;
    }
    const auto& r = f.ribbons[band.ribbon];
    QColor fill = ribbon_color(f, r, theme);
    const FlowRibbons::Step& step = f.steps[r.step];
    const bool chosen = marks.column < 0 || (step.from == marks.column && r.from == marks.branch) ||
                        (step.to == marks.column && r.to == marks.branch);
    fill.setAlphaF(hovered ? 0.95f : !chosen ? 0.10f : marks.column >= 0 ? 0.8f : f.in_colour(r) ? 0.55f : 0.25f);
    p.fillPath(band.path, fill);
  }
  p.setRenderHint(QPainter::Antialiasing, false);
  paint_lane(p, f, layout, hovered_step, theme);
  for (const RibbonLayout::Node& n : layout.nodes) {
    p.fillRect(n.box, n.category < 0       ? theme.faint
                      : f.colours_chains() ? theme.category(n.category)
                                           : branch_color(n.branch, f.keys[n.column], theme));
    if (n.column != marks.column || n.branch != marks.branch) continue;
    p.setPen(QPen(theme.accent, 2));
    p.drawRect(n.box.adjusted(-2, -1, 1, 1));
  }
  paint_branches(p, layout, marks, theme);
  const double apart = names.size() > 1 ? bounds.width() / static_cast<double>(names.size() - 1) : bounds.width();
  double free_from = bounds.left() - 1e9;
  for (size_t c = 0; c < names.size(); ++c) {
    const double width = metrics.horizontalAdvance(names[c]), x = bounds.left() + apart * static_cast<double>(c);
    const double at = std::clamp(x - width / 2, bounds.left(), std::max(bounds.left(), bounds.right() - width));
    if (at < free_from) continue;  // names that have no room are left to the tool tip
    p.setPen(static_cast<int>(c) == marks.column ? theme.accent : theme.faint);
    p.drawText(QRectF(at, bounds.top() - header, width + 1, header), Qt::AlignLeft | Qt::AlignVCenter, names[c]);
    free_from = at + width + 10;
  }
}

}  // namespace stormcell::views
