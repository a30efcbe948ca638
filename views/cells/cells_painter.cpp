#include "views/cells/cells_painter.h"

#include <algorithm>
#include <cmath>

#include "core/readings/patch_regions.h"
#include "core/readings/router_places.h"
#include "core/summary/exits_text.h"
#include "views/drawing/thumbnail_image.h"
#include "views/drawing/tone_scale.h"
#include "views/words/figure_text.h"
#include "views/words/router_names.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

QColor stripe_color(int stripe, const ExitRole& test, int ends, const BranchKey& key, const Theme& theme) {
  return stripe >= 0 ? branch_color(test, ends, stripe, key, theme) : stripe == kStripeDropped ? theme.bad : theme.grid;
}

/// All routers below one chip, one stripe each; a router with several choices a cell splits its stripe.
void paint_stripes(QPainter& p, const Chip& chip, QRectF box, const CellsMetrics& m, const ShownPage& page,
                   const Theme& theme) {
  const double height = page.routers.empty() ? 0 : (m.stripes - 2) / static_cast<double>(page.routers.size());
  size_t at = 0;
  for (size_t r = 0; r < page.routers.size(); ++r) {
    const int k = page.routers[r].fan_out;
    const BranchKey& key = key_of(page.keys, page.routers[r].name);
    const double y = box.bottom() + 2 + static_cast<double>(r) * height;
    for (int j = 0; j < k; ++j, ++at) {
      // Up to the neighbour, so that bands are seen and not a grid.
      const QRectF part(box.left() + (box.width() + 1) * j / k, y, (box.width() + 1) / k,
                        height > 2 ? height - 1 : height);
      const int stripe = chip.stripes[at];
      // A dropped choice is a thin line, so that it differs from a stripe not only by its red.
      p.fillRect(stripe == kStripeDropped ? QRectF(part.left(), part.center().y() - 0.5, part.width(), 1) : part,
                 stripe_color(stripe, page.exits[r], page.ends, key, theme));
    }
  }
}

void paint_marks(QPainter& p, const Chip& chip, QRectF box, const QColor& fill, const LineMarks& marks, int number,
                 const Theme& theme) {
  if (chip.differs) {
    // A corner, so that it is seen on every tone.
    p.setPen(Qt::NoPen);
    p.setBrush(Theme::text_on(fill));
    p.drawPolygon(QPolygonF({box.topRight() + QPointF(-6, 0), box.topRight(), box.topRight() + QPointF(0, 6)}));
  }
  p.setBrush(Qt::NoBrush);
  if (number == marks.selected) {
    p.setPen(QPen(theme.background, 4));
    p.drawRect(box);
    p.setPen(QPen(theme.accent, 2.5));
    p.drawRect(box);
  } else if (number == marks.hovered) {
    p.setPen(QPen(theme.text, 1));
    p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void paint_chip(QPainter& p, const Chip& chip, QRectF box, const ShownPage& page, const LineMarks& marks, int number,
                const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const QColor fill = chip_fill(chip, page, theme);
  p.fillRect(box, fill);
  if (!chip.seen) p.fillRect(box, QBrush(theme.faint, Qt::BDiagPattern));
  if (chip.dropped) {
    p.setPen(QPen(theme.bad, 1, Qt::DashLine));
    p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
  }
  if (!chip.text.isEmpty()) {
    p.setPen(!chip.real || chip.faded ? theme.faint : Theme::text_on(fill));
    p.drawText(box, Qt::AlignCenter, metrics.elidedText(chip.text, Qt::ElideRight, box.width() - 2));
  }
  paint_marks(p, chip, box, fill, marks, number, theme);
}

/// Draws the sides at which a patch borders on others, within it; dashed if the cell was dropped.
void paint_sides(QPainter& p, QRectF box, uint8_t sides, double width, const QColor& color, bool dashed) {
  const QRectF in = box.adjusted(width / 2, width / 2, -width / 2, -width / 2);
  p.setPen(QPen(color, width, dashed ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap));
  if (sides & kLeftSide) p.drawLine(QPointF(in.left(), box.top()), QPointF(in.left(), box.bottom()));
  if (sides & kRightSide) p.drawLine(QPointF(in.right(), box.top()), QPointF(in.right(), box.bottom()));
  if (sides & kTopSide) p.drawLine(QPointF(box.left(), in.top()), QPointF(box.right(), in.top()));
  if (sides & kBottomSide) p.drawLine(QPointF(box.left(), in.bottom()), QPointF(box.right(), in.bottom()));
}

/// A part of a picture: seen through a light wash of its colour, which the border of all parts that are alike says
/// whole.
void paint_line_part(QPainter& p, const Chip& chip, QRectF box, bool line_is_grid, const ShownPage& page,
                     const LineMarks& marks, int number, const Theme& theme) {
  constexpr double kLight = 0.15, kStrong = 0.7;
  const QColor fill = chip_fill(chip, page, theme);
  const bool steps_back = !chip.real || chip.faded;
  // Its neighbours' borders tell a part of a picture that no branch got.
  const bool nothing = !steps_back && page.options.color == CellColor::branch && chip.branch < 0;
  QColor tint = fill;
  tint.setAlphaF(steps_back || page.options.tint == PictureTint::strong ? kStrong : kLight);
  if ((page.options.tint != PictureTint::plain && !nothing) || steps_back) p.fillRect(box, tint);
  if (!chip.seen) p.fillRect(box, QBrush(theme.faint, Qt::BDiagPattern));
  if (!steps_back && page.options.tint != PictureTint::plain && !(nothing && line_is_grid)) {
    const double width = std::clamp(std::floor(box.width() / 8), 1.0, 4.0);
    paint_sides(p, box, chip.sides, width, chip.dropped ? theme.bad : fill, chip.dropped);
  }
  paint_marks(p, chip, box, fill, marks, number, theme);
}

/// Draws an empty frame for a picture that was not kept.
void paint_no_picture(QPainter& p, QRectF box, const ShownLine& line, const Theme& theme) {
  p.fillRect(box, theme.surface);
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.grid, 1));
  p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
  p.setPen(theme.faint);
  if (line.chips.size() == 1) p.drawText(box, Qt::AlignCenter | Qt::TextWordWrap, tr("not kept"));
}

QString mean_figure(const ShownPage& page, double v) {
  const CellColor color = page.options.color;
  const bool counts = color == CellColor::drops || color == CellColor::work || color == CellColor::parts;
  return counts ? QString::number(v, 'f', 0) : QString::number(v, 'g', 3);
}

int fan_out_of(const ShownPage& page) { return page.routers[page.router].branches; }
const ExitRole& test_of(const ShownPage& page) { return page.exits[page.router]; }
/// The colour of a branch of the router that colours.
QColor own_color(const ShownPage& page, int branch, const Theme& theme) {
  return branch_color(test_of(page), page.ends, branch, key_of(page.keys, page.routers[page.router].name), theme);
}

/// Boxes of the branches in the legend; the right side is left for a note.
std::vector<QRectF> branch_boxes(const QFontMetricsF& metrics, const ShownPage& page, QRectF bounds) {
  std::vector<double> widths;
  for (int b = 0; b < fan_out_of(page); ++b)
    widths.push_back(metrics.horizontalAdvance(to_qstring(branch_name(test_of(page), b))));
  return legend_boxes(widths, bounds.adjusted(0, 0, -190, 0), metrics.height() + 4);
}

/// Short names within each stack, prefixed by the stack. `routers`: of the page; they say which are exits.
std::vector<QString> names_of(const CellTrail& trail, const std::vector<RouterLine>& routers) {
  std::vector<QString> names(trail.steps.size());
  const auto stack = [](const CellTrail::Step& step) { return QString::fromStdString(step.router).section('.', 0, 0); };
  for (size_t first = 0; first < names.size();) {
    std::vector<RouterLine> lines;
    size_t end = first;
    for (; end < names.size() && stack(trail.steps[end]) == stack(trail.steps[first]); ++end) {
      lines.emplace_back();
      lines.back().name = trail.steps[end].router;
    }
    const auto short_ones = short_names(lines);
    for (size_t i = first; i < end; ++i)
      names[i] = lines.size() > 1 ? stack(trail.steps[i]) + " " + short_ones[i - first]
                                  : QString::fromStdString(trail.steps[i].router).section('.', 0, 2);
    first = end;
  }
  const std::vector<QString> of_page = short_names(routers);
  for (size_t s = 0; s < names.size(); ++s)
    for (size_t r = 0; r < routers.size(); ++r)
      if (is_exit(routers[r]) && routers[r].name == trail.steps[s].router) names[s] = of_page[r];
  return names;
}

/// Roles of the steps' routers as exits; none for routers that are not of the page.
std::vector<ExitRole> tests_of(const CellTrail& trail, const std::vector<RouterLine>& routers) {
  const std::vector<ExitRole> of_page = exit_roles(routers);
  std::vector<ExitRole> tests(trail.steps.size());
  for (size_t s = 0; s < tests.size(); ++s)
    for (size_t r = 0; r < routers.size(); ++r)
      if (routers[r].name == trail.steps[s].router) tests[s] = of_page[r];
  return tests;
}

/// Draws a line of text, elided; returns the top of the next line.
double text_line(QPainter& p, QRectF bounds, double y, const QString& text, const QColor& color, bool strong = false) {
  QFont font = p.font();
  const QFont before = font;
  font.setBold(strong);
  p.setFont(font);
  const QFontMetricsF metrics(font);
  p.setPen(color);
  p.drawText(QRectF(bounds.left(), y, bounds.width(), metrics.height() + 2), Qt::AlignLeft | Qt::AlignVCenter,
             metrics.elidedText(text, Qt::ElideRight, bounds.width()));
  p.setFont(before);
  return y + metrics.height() + 3;
}

/// Draws text in as many lines as it needs; returns the top of the next line.
double text_lines(QPainter& p, QRectF bounds, double y, const QString& text, const QColor& color) {
  constexpr int kFlags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
  const QRectF room(bounds.left(), y + 1, bounds.width(), std::max(0.0, bounds.bottom() - y));
  p.setPen(color);
  QRectF drawn;
  p.drawText(room, kFlags, text, &drawn);
  return drawn.bottom() + 2;
}

/// Draws all branches that a step gave the cell, each with its colour and its weight, in as many lines as they need.
/// Returns the top of the next line.
double paint_choices(QPainter& p, QRectF bounds, double y, const CellTrail::Step& step, const ExitRole& test,
                     const ShownPage& page, const Theme& theme) {
  constexpr double kSquare = 10, kGap = 10;
  const QFontMetricsF metrics(p.font());
  const double line = metrics.height() + 3;
  double x = bounds.left();
  bool any = false;
  for (size_t j = 0; j < step.branches.size(); ++j) {
    const int32_t branch = step.branches[j];
    if (branch == kNoChoice) continue;
    any = true;
    QString part = branch >= 0 ? to_qstring(branch_name(test, branch)) : tr("dropped by %1").arg(~branch);
    if (branch >= 0 && j < step.weights.size())
      part += tr(" (%1)").arg(static_cast<double>(step.weights[j]), 0, 'f', 2);
    const double width = kSquare + 4 + metrics.horizontalAdvance(part);
    if (x > bounds.left() && x + width > bounds.right()) x = bounds.left(), y += line;
    p.fillRect(QRectF(x, y + 3, kSquare, kSquare), stripe_color(branch >= 0 ? branch : kStripeDropped, test, page.ends,
                                                                key_of(page.keys, step.router), theme));
    text_line(p, QRectF(x + kSquare + 4, y, bounds.right() - x - kSquare - 4, line), y, part, theme.text);
    x += width + kGap;
  }
  if (!any) text_line(p, bounds, y, tr("none"), theme.text);
  return y + line;
}

constexpr int kLegendLines = 2;

/// Explains everything but the colours. Stripes are below cells, but not on patches of a picture.
QString drawn_text(const ShownPage& page, const QFontMetricsF& metrics, double width) {
  QString text;
  if (page.numbers) text += tr("The numbers are token ids: this session has no texts of tokens. ");
  if (page.patches) return text + tr("Patches: an even grid, bordered where the branch changes.");
  if (!page.pictures && !page.tokens) text += tr("In the cells: their places, in a grid row and column. ");
  QStringList names;
  for (const QString& name : short_names(page.routers)) names << name;
  const QString all = text + tr("Stripes below the cells, from the top: %1").arg(names.join(", "));
  if (metrics.horizontalAdvance(all) <= width) return all;
  return text + tr("Stripes below the cells: their branches at all %1 routers, from the top").arg(names.size());
}

void paint_exits(QPainter& p, const ShownPage& page, QRectF area, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const size_t ends = page.ends;
  std::vector<QString> names;
  std::vector<double> widths;
  for (size_t e = 0; e < ends; ++e) {
    names.push_back(to_qstring(exit_name(e, ends)));
    widths.push_back(metrics.horizontalAdvance(names.back()));
  }
  const std::vector<QRectF> boxes = legend_boxes(widths, area, metrics.height() + 4);
  for (size_t e = 0; e < boxes.size(); ++e) {
    const QColor fill = exit_color(static_cast<int>(e), page.ends, theme);
    p.fillRect(boxes[e], fill);
    p.setPen(Theme::text_on(fill));
    p.drawText(boxes[e], Qt::AlignCenter, names[e]);
  }
}

}  // namespace

QColor branch_color(const ExitRole& test, int ends, int branch, const BranchKey& key, const Theme& theme) {
  if (test.exit < 0) return branch_color(branch, key, theme);
  if (branch == test.leave) return exit_color(test.exit, ends, theme);
  return test.last ? exit_color(test.exit + 1, ends, theme) : theme.faint;
}

QColor chip_fill(const Chip& chip, const ShownPage& page, const Theme& theme) {
  if (!chip.real || chip.faded) return theme.surface;
  if (page.options.color == CellColor::branch)
    return chip.branch >= 0 ? own_color(page, chip.branch, theme) : theme.surface;
  if (page.options.color == CellColor::exit)
    return chip.tone >= 0 ? exit_color(static_cast<int>(chip.value), page.ends, theme) : theme.surface;
  return chip.tone >= 0 ? theme.sequential(chip.tone) : theme.surface;
}

void paint_line(QPainter& p, const ShownLine& line, const LineLayout& layout, QPointF at, const CellsMetrics& m,
                const ShownPage& page, const LineMarks& marks, QRectF clip, const Theme& theme) {
  const QRectF gutter(at.x(), at.y(), m.head > 0 ? m.width : m.gutter - 10, m.line);
  const QRectF row(at.x() + m.gutter, at.y(), m.width - m.gutter, m.line);
  const QString title = m.head > 0 && line.compared > 0
                            ? line.title + QString(" %1/%2").arg(line.differing).arg(line.compared)
                            : line.title;
  const double second = text_line(p, gutter, at.y(), title, line.differing > 0 && m.head > 0 ? theme.warn : theme.text);
  QString below = line.text;
  if (line.compared > 0) {
    below = tr("%1 of %2 differ").arg(line.differing).arg(line.compared);
    if (QFontMetricsF(p.font()).horizontalAdvance(below) > gutter.width())
      below = QString("%1/%2").arg(line.differing).arg(line.compared);
  }
  if (m.head == 0) text_line(p, gutter, second, below, line.differing > 0 ? theme.warn : theme.faint);
  const bool pictured = !layout.picture.isEmpty();
  if (pictured && line.picture.isNull())
    paint_no_picture(p, layout.picture.translated(at), line, theme);
  else if (pictured)
    draw_image(p, layout.picture.translated(at), line.picture);
  else if (line.chips.empty())
    text_line(p, row, at.y(), tr("nothing but padding"), theme.faint);
  for (size_t c = 0; c < line.chips.size(); ++c) {
    const QRectF box = layout.chips[c].translated(at);
    if (box.bottom() + m.stripes < clip.top()) continue;
    if (box.top() > clip.bottom()) return;
    if (pictured) {
      if (box.size() == layout.picture.size()) paint_stripes(p, line.chips[c], box, m, page, theme);
      paint_line_part(p, line.chips[c], box, box.size() != layout.picture.size(), page, marks, static_cast<int>(c),
                      theme);
      continue;
    }
    paint_stripes(p, line.chips[c], box, m, page, theme);
    paint_chip(p, line.chips[c], box, page, marks, static_cast<int>(c), theme);
  }
  if (!line.left_out.isEmpty())
    text_line(p, row, at.y() + layout.height - m.block_gap - m.line, line.left_out, theme.warn);
}

double cells_legend_height(const QFontMetricsF& metrics, const ShownPage& page, double width) {
  // Two rows of branches at most; a scale with its ends needs as much.
  double rows = page.options.color == CellColor::exit ? 1 : 2;
  if (page.router >= 0 && page.options.color == CellColor::branch)
    rows = branch_boxes(metrics, page, QRectF(0, 0, width, metrics.height() + 5)).size() <
                   static_cast<size_t>(fan_out_of(page))
               ? 2
               : 1;
  return rows * (metrics.height() + 8) + kLegendLines * (metrics.height() + 2) + 2;
}

std::vector<QRectF> paint_cells_legend(QPainter& p, QRectF bounds, const ShownPage& page, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const double line = metrics.height() + 2;
  const ColorText color = text_of(page.options.color);
  text_line(p, bounds, bounds.bottom() - kLegendLines * line, drawn_text(page, metrics, bounds.width()), theme.faint);
  QString meaning = tr("%1: %2").arg(color.name, color.definition);
  if (page.router >= 0 && page.options.color == CellColor::branch && test_of(page).exit < 0)
    if (const QString key = key_text(key_of(page.keys, page.routers[page.router].name)); !key.isEmpty())
      meaning = key + " " + meaning;
  text_line(p, bounds, bounds.bottom() - line, meaning, theme.faint);
  std::vector<QRectF> boxes;
  if (page.router < 0) return boxes;
  const RouterLine& router = page.routers[page.router];
  QRectF area = bounds.adjusted(0, 0, 0, -kLegendLines * line - 4);
  if (page.options.color == CellColor::exit) {
    paint_exits(p, page, area, theme);
    return boxes;
  }
  if (page.options.color != CellColor::branch) {
    const double width = std::min(280.0, area.width() * 0.4);
    paint_tone_scale(p, {area.left(), area.top(), width, 10}, ToneSides::one,
                     even_ticks(page.high, 5, [&](double value) { return mean_figure(page, value); }), theme);
    const bool of_all = page.options.color == CellColor::work || page.options.color == CellColor::parts;
    text_line(p, area.adjusted(width + 14, 0, 0, 0), area.top() - 2,
              of_all ? tr("%1, of all routers").arg(color.name)
                     : tr("%1 at %2").arg(color.name, QString::fromStdString(router.name)),
              theme.text);
    return boxes;
  }
  boxes = branch_boxes(metrics, page, area);
  for (size_t b = 0; b < boxes.size(); ++b) {
    const bool on = page.options.branch < 0 || page.options.branch == static_cast<int>(b);
    const QColor fill = on ? own_color(page, static_cast<int>(b), theme) : theme.surface;
    p.fillRect(boxes[b], fill);
    p.setPen(on ? Theme::text_on(fill) : theme.faint);
    p.drawText(boxes[b], Qt::AlignCenter, to_qstring(branch_name(test_of(page), static_cast<int>(b))));
  }
  QString note;
  if (static_cast<int>(boxes.size()) < router.branches)
    note = tr("and %1 more").arg(router.branches - static_cast<int>(boxes.size()));
  if (page.unbranched) note += (note.isEmpty() ? "" : "; ") + tr("no colour: no branch");
  if (!note.isEmpty() && !boxes.empty())
    text_line(p, QRectF(bounds.right() - 184, 0, 184, 0), boxes.back().top() + 1, note, theme.faint);
  return boxes;
}

QString next_text(const CellChoice& choice) {
  QStringList parts;
  if (choice.runner_up >= 0) parts << tr("next: branch %1").arg(choice.runner_up);
  if (choice.margin) parts << tr("margin %1").arg(*choice.margin, 0, 'g', 3);
  return parts.join(", ");
}

double paint_trail(QPainter& p, QRectF bounds, const CellTrail& trail, const ShownPage& page,
                   const TrailDetails& details, const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  const QString place = tr("Cell %1:%2").arg(trail.place.sequence).arg(trail.place.position);
  // The figure in brackets is the weight.
  double y = text_line(p, bounds, bounds.top(), details.token.isEmpty() ? place : place + "  \"" + details.token + "\"",
                       theme.text, true);
  if (!trail.text.empty())
    y = text_line(p, bounds, y, tr("of \"%1\"").arg(QString::fromStdString(trail.text).simplified()), theme.text);
  y = text_line(p, bounds, y,
                QString::fromStdString(trail.label) + (trail.label.empty() ? "" : "; ") + tr("in brackets: weight"),
                theme.faint);
  const auto says_next = [](const CellChoice& choice) { return !next_text(choice).isEmpty(); };
  if (!details.choices || std::ranges::none_of(*details.choices, says_next))
    y = text_lines(p, bounds, y, tr("no margins here: record with --record-scores"), theme.faint);
  const std::vector<QString> names = names_of(trail, page.routers);
  const std::vector<ExitRole> tests = tests_of(trail, page.routers);
  for (size_t s = 0; s < trail.steps.size(); ++s) {
    const CellTrail::Step& step = trail.steps[s];
    const QString next = details.choices ? next_text((*details.choices)[s]) : QString();
    if (y + (next.isEmpty() ? 2 : 3) * metrics.height() > bounds.bottom()) {
      y = text_line(p, bounds, y, tr("and %1 more routers").arg(trail.steps.size() - s), theme.faint);
      break;
    }
    y = paint_choices(p, bounds, y, step, tests[s], page, theme);
    y = text_line(p, bounds.adjusted(16, 0, 0, 0), y - 2, names[s], theme.faint);
    if (!next.isEmpty()) y = text_line(p, bounds.adjusted(16, 0, 0, 0), y - 3, next, theme.text);
  }
  return y - bounds.top();
}

void paint_dictionary(QPainter& p, QRectF bounds, const BranchDictionary& d, DictionaryOrder order,
                      const Theme& theme) {
  const QFontMetricsF metrics(p.font());
  double y = text_line(p, bounds, bounds.top(), tr("Dictionary of branch %1").arg(d.branch), theme.text, true);
  y = text_line(p, bounds, y, QString::fromStdString(d.router), theme.faint);
  const double share = d.all > 0 ? 100.0 * static_cast<double>(d.cells) / d.all : 0;
  y = text_line(p, bounds, y, tr("%1, %2 %; whole run").arg(counted_text(d.cells, "cell")).arg(share, 0, 'f', 1),
                theme.faint);
  if (!d.complete) y = text_line(p, bounds, y, tr("only the most frequent tokens are kept"), theme.faint);
  const auto entries = ordered(d, order);
  if (entries.empty()) {
    text_line(p, bounds, y + 4,
              d.entries.empty() ? tr("no token came here") : tr("no token with %1 cells or more").arg(kLeastForLift),
              theme.faint);
    return;
  }
  const double count_width = metrics.horizontalAdvance("0000000"), lift_width = metrics.horizontalAdvance("x00.00");
  const double text_width = std::max(40.0, bounds.width() - count_width - lift_width - 70),
               bar = bounds.width() - text_width - count_width - lift_width - 8;
  const QRectF columns(bounds.left(), y + 3, bounds.width(), metrics.height());
  p.setPen(theme.faint);
  p.drawText(columns, Qt::AlignLeft, tr("token"));
  p.drawText(QRectF(columns.left() + text_width, columns.top(), count_width, columns.height()), Qt::AlignRight,
             tr("cells"));
  p.drawText(columns, Qt::AlignRight, tr("lift"));
  y = columns.bottom() + 3;
  // Bars on a logarithmic scale around 1: twice as often is as long as half as often.
  const double middle = bounds.left() + text_width + count_width + 4 + bar / 2;
  size_t shown = 0;
  for (; shown < entries.size() && y + 2 * metrics.height() + 4 < bounds.bottom(); ++shown, y += metrics.height() + 4) {
    const auto& e = entries[shown];
    const QRectF row(bounds.left(), y, bounds.width(), metrics.height() + 2);
    p.setPen(theme.text);
    p.drawText(QRectF(row.left(), y, text_width - 4, row.height()), Qt::AlignLeft | Qt::AlignVCenter,
               metrics.elidedText(e.piece.empty() ? QString("#%1").arg(e.token) : piece_text(e.piece).text,
                                  Qt::ElideRight, text_width - 4));
    p.drawText(QRectF(row.left() + text_width, y, count_width, row.height()), Qt::AlignRight | Qt::AlignVCenter,
               QString::number(e.count));
    p.drawText(row, Qt::AlignRight | Qt::AlignVCenter, QString::number(e.lift, 'f', e.lift < 9.95 ? 2 : 1));
    const double reach = std::clamp(std::log2(std::max(1e-9, e.lift)) / 4, -1.0, 1.0) * bar / 2;
    p.fillRect(QRectF(std::min(middle, middle + reach), y + 3, std::abs(reach), row.height() - 6),
               reach < 0 ? theme.diverging(-0.7) : theme.diverging(0.7));
    p.fillRect(QRectF(middle, y, 1, row.height()), theme.faint);
  }
  if (shown < entries.size())
    text_line(p, bounds, y, tr("%1 more in the table").arg(entries.size() - shown), theme.faint);
}

void paint_hint(QPainter& p, QRectF bounds, const QString& text, const Theme& theme) {
  p.setPen(theme.faint);
  p.drawText(bounds, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, text);
}

}  // namespace stormcell::views
