#include "views/exits/exits_model.h"

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/quality_text.h"
#include "views/drawing/thumbnail_image.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

ShownPoint shown_point(const QString& name, const ExitPoint& p) {
  return {name, p.mean_cost, p.value.value_or(0), p.value_ci95, p.items, p.threshold, {}};
}

/// A single number if it is the same at all exits.
QString numbers_of(const std::vector<double>& thresholds) {
  QStringList texts;
  for (const double threshold : thresholds) texts << to_qstring(exit_threshold_text(threshold));
  if (texts.count(texts.value(0)) == texts.size()) return texts.value(0);
  return texts.join(", ");
}

void add_curve(const ExitsOfRun& view, ExitsPage& page) {
  const ExitCurve& c = *view.curve;
  page.measure = to_qstring(c.measure), page.unit = c.unit, page.item = to_qstring(c.item),
  page.plan = to_qstring(exit_plan_text(c));
  for (size_t e = 0; e < c.exits.size(); ++e) {
    page.exits.push_back(to_qstring(exit_name(c, e)));
    page.costs.push_back(c.exits[e].cost);
  }
  page.points.push_back(shown_point(tr("those that ran"), c.chosen));
  for (const ExitPoint& p : valued_points(c))
    page.points.push_back(shown_point(to_qstring(exit_threshold_text(p.threshold)), p));
  for (const ExitClass& g : c.classes) {
    page.classes.push_back({to_qstring(g.name), g.items});
    page.classes.back().items.resize(
        page.exits.size());  // a session of others may name fewer, and it is painted by exits
  }
}

void add_target(const ExitTarget& t, ExitsPage& page) {
  page.target = (t.met ? tr("target met: %1") : tr("target missed: %1")).arg(to_qstring(exit_target_text(t)));
  if (t.speedup_over_model || t.over_model_withheld || !exits_taken_text(t).empty())
    page.target += "; " + to_qstring(over_model_sentence(t));
  if (t.of == Bounded::quality) page.target_value = t.target;
  if (t.of == Bounded::operations) page.target_cost = t.target;
}

}  // namespace

ExitsPage make_exits_page(const ExitsOfRun& view) {
  ExitsPage page;
  page.headline = to_qstring(view.headline);
  page.gallery = view.gallery;
  if (view.curve && !view.curve->exits.empty() && view.curve->chosen.value) {
    add_curve(view, page);
  } else {
    page.item = tr("cell");
    for (size_t e = 0; e < view.cells_by_exit.size(); ++e)
      page.exits.push_back(to_qstring(exit_name(e, view.cells_by_exit.size())));
    ExitPoint ran;
    ran.items = view.cells_by_exit;
    page.points.push_back(shown_point(tr("those that ran"), ran));
    page.no_curve =
        tr("No curve: the data do not say what is right, or the run left no figures.\nLabels (a folder for each class, "
           "labels.csv, "
           "--label-field) and `stormcell profile` or `optimize` give one.");
  }
  if (view.curve) page.points.front().numbers = numbers_of(view.curve->thresholds);
  // Wrong answers come first: they are few, and there may be no room for all items.
  std::stable_partition(page.gallery.begin(), page.gallery.end(), [](const ExitItem& item) { return item.wrong; });
  if (view.target) add_target(*view.target, page);
  if (view.thumbnails > 0)
    for (const ExitItem& item : page.gallery) page.pictures.push_back(image_of(item.picture));
  if (!view.decisions)
    page.gallery_note = tr("No single items here: `stormcell profile` keeps them.");
  else if (view.thumbnails == 0)
    page.gallery_note = tr("Labels stand for them: this run keeps no pictures (--record-inputs does).");
  else if (view.thumbnails < view.items)
    page.gallery_note = kept_text(view.thumbnails, view.items);
  return page;
}

size_t nearest_point(const ExitsPage& page, double threshold) {
  size_t nearest = page.has_curve() ? 1 : 0;
  const auto away = [&](size_t point) { return std::abs(page.points[point].threshold - threshold); };
  for (size_t p = 2; p < page.points.size(); ++p)
    if (away(p) < away(nearest)) nearest = p;
  return nearest;
}

QString value_text(const ExitsPage& page, double value) { return to_qstring(quality_value_text(page.unit, value)); }

QString with_plan(const ExitsPage& page, const QString& words) {
  return page.plan.isEmpty() ? words : words + " " + page.plan;
}

QString gain_text(const ExitsPage& page, size_t at) {
  const ShownPoint& p = page.points[at];
  QString text = tr("Thresholds, %1").arg(p.title());
  if (!page.has_curve()) return text;
  const QString quality = to_qstring(quality_text(page.unit, p.value, p.interval));
  return text + tr(": %1 %2, %3 %4")
                    .arg(percent_text(p.cost), with_plan(page, tr("of the operations")), page.measure, quality);
}

QString describe(const ExitsPage& page, size_t at) {
  const ShownPoint& p = page.points[at];
  QString text = gain_text(page, at);
  for (size_t e = 0; e < page.exits.size(); ++e)
    text += (e == 0 ? QString("; ") : QString(", ")) +
            tr("%1 leave at %2").arg(percent_text(share_at(p.items, e)), page.exits[e]);
  return text;
}

QString describe(const ExitsPage& page, const ExitItem& item) {
  const size_t exit = item.exit;
  QString text = tr("#%1").arg(item.sequence);
  if (!item.label.empty()) text += tr(", label %1").arg(to_qstring(item.label));
  text += tr(": answered at %1").arg(exit < page.exits.size() ? page.exits[exit] : QString::number(item.exit + 1));
  if (item.wrong)
    text += tr(", with %1, which is wrong").arg(to_qstring(item.answer));
  else if (!item.answer.empty())
    text += tr(", right");
  if (item.margin) text += tr(", its confidence %1 from the threshold").arg(number_text(*item.margin));
  return text;
}

Table make_exits_table(const ExitsPage& page) {
  Table table;
  table.columns = {
      {tr("Of"), tr("All items with one set of thresholds, or those of one class with the thresholds that ran")},
      {tr("Thresholds"), tr("One for all exits; those that ran may differ by exit. Replayed on the scores of one run")},
      {tr("Operations"), with_plan(page, tr("Mean of the items, counted, no time, as a share of the whole network"))},
      {tr("Quality"), tr("The measure of the model's task over the labelled items")},
      {tr("From"), tr("Lower end of its 95 % interval")},
      {tr("To"), tr("Upper end of its 95 % interval")}};
  for (const QString& exit : page.exits)
    table.columns.push_back({tr("Left at %1").arg(exit), tr("Items that answer there; counted")});
  const auto add = [&](std::vector<Value> row, const std::vector<int64_t>& items) {
    for (const int64_t count : items) row.emplace_back(static_cast<qlonglong>(count));
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  };
  for (const ShownPoint& p : page.points) {
    std::vector<Value> row{tr("all"), p.title(), Value(), Value(), Value(), Value()};
    if (page.has_curve()) row[2] = p.cost, row[3] = p.value;
    if (page.has_curve() && p.interval) row[4] = (*p.interval)[0], row[5] = (*p.interval)[1];
    add(std::move(row), p.items);
  }
  for (const ShownClass& c : page.classes)
    add({tr("class %1").arg(c.name), page.points.front().title(), Value(), Value(), Value(), Value()}, c.items);
  return table;
}

Table make_items_table(const ExitsPage& page) {
  Table table;
  table.columns = {
      {tr("Item"), tr("Its number in the run, from 0")},
      {tr("Label"), tr("As the data have it")},
      {tr("Answered at"), tr("The exit that it left by; measured in the recorded run")},
      {tr("From the threshold"),
       tr("How far its confidence there was from the threshold; where it went to the end, that of the last test")},
      {tr("Picture"), tr("Width and height of the picture that is kept of it, in pixels; empty: none is")},
      {tr("Answered"), tr("The class that was answered, as the run's quality figures have it; empty: they do not say")},
      {tr("Right"), tr("Whether the answer is the label's; empty: not known")}};
  for (const ExitItem& item : page.gallery) {
    const size_t exit = item.exit;
    std::vector<Value> row{static_cast<qlonglong>(item.sequence),
                           to_qstring(item.label),
                           exit < page.exits.size() ? page.exits[exit] : QString::number(item.exit + 1),
                           Value(),
                           Value(),
                           Value(),
                           Value()};
    if (!item.answer.empty()) row[5] = to_qstring(item.answer), row[6] = item.wrong ? tr("no") : tr("yes");
    if (item.margin) row[3] = *item.margin;
    if (!item.picture.empty()) row[4] = QString("%1 x %2").arg(item.picture.size.width).arg(item.picture.size.height);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace stormcell::views
