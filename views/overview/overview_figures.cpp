#include "views/overview/overview_figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/summary/budget_text.h"
#include "core/summary/dense_text.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/item_costs_text.h"
#include "core/summary/limit_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/quality_text.h"
#include "core/summary/stated_speedups.h"
#include "views/overview/plan_figure.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// Padding that each plan computes, beside what batches of like length would.
void add_padding(const RunSummaryFigures& f, bool both, OverviewPageModel& page) {
  const DatasetFigures& d = f.dataset;
  const std::string words = padding_text(f);
  if (words.empty() || d.cells <= 0) return;
  const auto share = [&](int64_t cells) { return static_cast<double>(cells - d.cells_without_padding) / cells; };
  const double padded = share(d.cells), after = leaves_padding_out(f) ? 0 : padded,
               before = f.baseline ? padded : after;
  const QString other =
      d.cells == d.cells_by_length
          ? tr("of the cells; %1 in the data's order").arg(percent_text(share(d.cells_as_given)))
          : tr("of the cells; %1 in batches of like length").arg(percent_text(share(d.cells_by_length)));
  page.figures.push_back({.name = tr("Padding computed"),
                          .note = other,
                          .tip = tr("Counted. %1.").arg(to_qstring(words).toHtmlEscaped()),
                          .before = percent_text(before),
                          .after = both ? percent_text(after) : QString(),
                          .before_value = before,
                          .after_value = both ? after : 0});
}

/// Adds the third plan: its times are beside the baseline's and no part of a speed-up.
void add_dense(const RunSummaryFigures& f, OverviewPageModel& page) {
  if (!f.dense) return;
  const double mean = f.dense->latency_ms.mean > 0 ? f.dense->latency_ms.mean : f.dense->latency_ms.median;
  page.figures.push_back(
      {.name = tr("Dense plan"),
       .note =
           f.routing_speedup
               ? tr("every cell through every branch; the baseline is %1 as fast").arg(times_text(*f.routing_speedup))
           : f.routing_withheld ? tr("every cell through every branch; what routing saves was not measured well enough")
                                : tr("every cell through every branch"),
       .tip = tr("Measured: %1.").arg(to_qstring(dense_text(f)).toHtmlEscaped()),
       .before = tr("%1 a batch").arg(duration_text(mean)),
       .before_value = mean,
       .apart = true});
}

/// Adds the quality of the answers, also for a plan that is not verified, marked as such.
void add_quality(const RunSummaryFigures& f, bool both, OverviewPageModel& page) {
  if (!f.quality) return;
  const QualityFigures& q = *f.quality;
  const auto& shown = q.baseline ? q.baseline : q.optimized;
  if (!shown) return;
  QStringList tip;
  if (q.baseline) tip << tr("Baseline: %1.").arg(to_qstring(quality_sentence(q, *q.baseline)).toHtmlEscaped());
  if (q.optimized) tip << tr("Optimised: %1.").arg(to_qstring(quality_sentence(q, *q.optimized)).toHtmlEscaped());
  if (const std::string change = quality_change_text(q); !change.empty()) tip << to_qstring(change).toHtmlEscaped();
  if (const std::string classes =
          quality_classes_text(q, q.optimized ? &GroupQuality::optimized : &GroupQuality::baseline);
      !classes.empty())
    tip << tr("By class: %1.").arg(to_qstring(classes).toHtmlEscaped());
  tip << tr("Counted %1.").arg(to_qstring(quality_source_text(q)).toHtmlEscaped());
  const bool after = both && q.baseline && q.optimized;
  page.figures.push_back({.name = to_qstring(quality_title(q)),
                          .note = tr("of %1").arg(counted_text(q.items, q.item.c_str())),
                          .tip = tip.join("<br>"),
                          .before = to_qstring(plan_quality_text(q, *shown)),
                          .after = after ? to_qstring(plan_quality_text(q, *q.optimized)) : QString(),
                          .before_value = shown->value,
                          .after_value = after ? q.optimized->value : 0});
}

/// The mean operations of the thresholds that ran in the model's own order; nothing: not known, or items of several
/// sizes hide it.
std::optional<double> baseline_cost_of(const ExitCurve& c) {
  constexpr double kRounding = 0.001;
  double cost = 0, own = 0;
  for (size_t e = 0; e < c.exits.size(); ++e) {
    if (!c.exits[e].baseline_cost) return {};
    const double share = share_at(c.chosen.items, e);
    cost += share * c.exits[e].cost, own += share * *c.exits[e].baseline_cost;
  }
  return std::abs(cost - c.chosen.mean_cost) < kRounding ? std::optional(own) : std::nullopt;
}

void add_exits(const RunSummaryFigures& f, bool both, OverviewPageModel& page) {
  if (!f.exits || f.exits->exits.empty()) return;
  if (!f.exits->chosen.items.empty())
    page.figures.push_back(
        {.name = tr("Left at %1").arg(to_qstring(exit_name(*f.exits, 0))),
         .note = tr("of %1, with the thresholds that ran").arg(counted_text(f.exits->items, f.exits->item.c_str())),
         .tip = to_qstring(exits_sentence(*f.exits)).toHtmlEscaped(),
         .before = percent_text(share_at(f.exits->chosen.items, 0)),
         .apart = true});
  const QString plan = to_qstring(exit_plan_text(*f.exits)), cost = percent_text(f.exits->chosen.mean_cost);
  FigureRow row{.name = tr("Operations with exits"),
                .note = plan.isEmpty() ? tr("of the whole network, counted") : tr("of the network, %1").arg(plan),
                .tip = to_qstring(exits_sentence(*f.exits)).toHtmlEscaped(),
                .before = cost,
                .before_value = f.exits->chosen.mean_cost};
  if (both && f.exits->plan == CurvePlan::optimized) {
    const std::optional<double> own = baseline_cost_of(*f.exits);
    if (own) row.note = tr("of the network, as each plan runs");
    row.after = cost, row.after_value = f.exits->chosen.mean_cost;
    row.before = own ? percent_text(*own) : QString(), row.before_value = own.value_or(0);
  }
  page.figures.push_back(std::move(row));
}

/// Adds the target that optimize had for the exits: both plans run with the thresholds that it found.
void add_exit_target(const RunSummaryFigures& f, OverviewPageModel& page) {
  if (!f.exit_target) return;
  const ExitTarget& t = *f.exit_target;
  QStringList tips, thresholds;
  for (const auto& [title, text] : exit_target_lines(t))
    tips << "<b>" + to_qstring(title) + "</b>: " + to_qstring(text).toHtmlEscaped();
  for (const double threshold : t.thresholds) thresholds << to_qstring(exit_threshold_text(threshold));
  const auto add = [&](const QString& name, const QString& note, const QString& value) {
    page.figures.push_back({.name = name, .note = note, .tip = tips.join("<br>"), .before = value, .apart = true});
  };
  if (t.speedup_over_model)
    add(tr("Gain over the model as it came"), tr("thresholds and passes together, beside its own thresholds"),
        times_text(*t.speedup_over_model));
  else if (t.over_model_withheld)
    add(tr("Gain over the model as it came"), to_qstring(to_text(*t.over_model_withheld)), tr(kNotMeasured));
  if (const std::vector<std::string> taken = exits_taken_text(t); !taken.empty()) {
    QStringList all;
    for (const std::string& sentence : taken) all << to_qstring(sentence);
    add(tr("Exits that take all or none"), tr("of those held out"), all.join("; "));
  }
  add(tr("Target of the exits"), to_qstring(exit_target_text(t)), t.met ? tr("met") : tr("missed"));
  if (!thresholds.isEmpty())
    add(tr("Thresholds found for it, by exit"), tr("both plans run with them, not with the model's own"),
        thresholds.join(", "));
  if (!t.own.value || !t.held_out.value) return;
  const auto items = std::accumulate(t.held_out.items.begin(), t.held_out.items.end(), int64_t{0});
  add(tr("With the model's own thresholds"),
      tr("%1 of %2 held out; with those found %3")
          .arg(to_qstring(t.measure), counted_text(items, t.item.c_str()),
               to_qstring(quality_value_text(t.unit, *t.held_out.value))),
      to_qstring(quality_text(t.unit, *t.own.value, t.own.value_ci95)));
}

QString item_costs_tip(const RunSummaryFigures& f) {
  QStringList lines;
  for (const auto& [title, text] : item_costs_lines(f)) lines << to_qstring(text).toHtmlEscaped();
  return (lines << to_qstring(item_costs_source_text(f)).toHtmlEscaped()).join("<br>");
}

/// Adds held and planned memory of the whole process; it belongs to no single plan.
void add_budget(const RunSummaryFigures& f, OverviewPageModel& page) {
  if (!f.weight_budget || f.weight_budget->held_bytes == 0) return;
  QStringList tips;
  for (const BudgetLine& line : budget_lines(*f.weight_budget, {}))
    tips << "<b>" + to_qstring(line.name) + "</b>: " + to_qstring(line.text).toHtmlEscaped();
  page.figures.push_back(
      {.name = tr("Memory held"),
       .note = tr("%1 were planned").arg(bytes_text(static_cast<double>(planned_bytes(*f.weight_budget)))),
       .tip = tips.join("<br>"),
       .before = bytes_text(static_cast<double>(f.weight_budget->held_bytes)),
       .apart = true});
}

/// The price of the guards in a batch: their tests, and the fallbacks of those that missed.
void add_guards(const GuardCosts& g, OverviewPageModel& page) {
  const QString outcomes = tr("%1 held, %2 missed").arg(count_text(g.hits), count_text(g.misses));
  QStringList parts, tips;
  tips << tr("Guards: %1 in the batches that were recorded. Counted.").arg(outcomes);
  if (g.tests_ms) {
    parts << tr("tests %1 a batch").arg(duration_text(*g.tests_ms));
    tips << tr("Tests cost a hit and a miss alike.");
  } else {
    tips << tr("No step of its own tests a guard, so a hit costs nothing that was recorded.");
  }
  if (g.fallback_ms) {
    parts << tr("a fallback %1").arg(duration_text(*g.fallback_ms));
    tips << tr("A miss costs its fallback besides: the mean of %1, without the loading of weights.")
                .arg(counted_text(g.fallbacks, "fallback"));
  } else if (g.misses > 0) {
    tips << tr("The time of the fallbacks is not known: no recorded batch ran without a miss.");
  }
  if (parts.isEmpty()) return;
  tips << tr("Measured while recording, in %1.").arg(counted_text(g.batches, "batch", "batches"));
  page.figures.push_back({.name = tr("Guards"),
                          .note = tr("%1 while recording").arg(outcomes),
                          .tip = tips.join("<br>"),
                          .before = parts.join(", "),
                          .apart = true});
}

/// "8", "4 to 8"; empty of no router.
QString branches_of(const RunFacts& facts) {
  if (facts.routers.empty()) return {};
  const auto [least, most] = std::minmax_element(facts.routers.begin(), facts.routers.end(),
                                                 [](const auto& a, const auto& b) { return a.branches < b.branches; });
  if (least->branches == most->branches) return count_text(most->branches);
  return tr("%1 to %2").arg(count_text(least->branches), count_text(most->branches));
}

}  // namespace

void set_figures(const Situation& situation, OverviewPageModel& page) {
  const Summary& s = *situation.summary;
  const RunSummaryFigures& f = s.figures;
  const auto& generated = s.generated;
  // An unverified plan's times beside the baseline's would be a speed-up in other words.
  const bool both = f.baseline && f.optimized && f.is_verified();
  const auto& shown = f.baseline ? f.baseline : f.optimized;
  page.figures_title = both                         ? tr("Baseline against optimised")
                       : f.baseline || !f.optimized ? tr("What was measured")
                                                    : tr("The optimised plan");
  page.before_title = both ? tr("baseline") : QString();
  page.after_title = both ? tr("optimised") : QString();
  for (const PlanFigure& figure : plan_figures()) {
    const std::optional<double> none, before = shown ? figure.value(*shown) : none,
                                      after = both ? figure.value(*f.optimized) : none;
    if (!before && !after) continue;
    const PlanFigureName named = name_of(figure, f);
    FigureRow row{.name = named.name,
                  .note = tr(figure.note),
                  .tip = named.tip,
                  .before = before ? figure.text(*before) : QString(),
                  .after = after ? figure.text(*after) : QString(),
                  .before_value = before.value_or(0),
                  .after_value = after.value_or(0)};
    const bool told = row.before != to_qstring(kInCache) && row.after != to_qstring(kInCache);
    // A change of a time is a speed-up, so it is withheld, too.
    const bool stated = !f.withheld || qstrcmp(figure.unit, "bytes") == 0;
    if (before && after && figure.is_compared && told && stated) row.change = change_text(*before, *after);
    if (before && after && !stated) row.remark = to_qstring(no_ratio_text(f));
    page.figures.push_back(std::move(row));
  }
  add_dense(f, page);
  add_quality(f, both, page);
  add_exit_target(f, page);
  add_exits(f, both, page);
  if (f.item_costs)
    page.figures.push_back({.name = tr("Operations spent"),
                            .note = tr("of all branches, in the model's own order"),
                            .tip = item_costs_tip(f),
                            .before = percent_text(f.item_costs->share),
                            .before_value = f.item_costs->share});
  if (f.item_costs && f.item_costs->parts)
    page.figures.push_back(
        {.name = tr("Parts computed"),
         .note = tr("of the %1 that routers may leave out, counted").arg(count_text(f.item_costs->parts->of)),
         .tip = item_costs_tip(f),
         .before = number_text(f.item_costs->parts->mean),
         .before_value = f.item_costs->parts->mean});
  add_padding(f, both, page);
  add_budget(f, page);
  if (situation.guards) add_guards(*situation.guards, page);
  if (generated) {
    page.figures.push_back({.name = tr("Stopped by the end mark"),
                            .note = tr("sequences; the others reached the longest length"),
                            .tip = tr("Sequences whose last token ends a text. Counted."),
                            .before = count_text(generated->stopped_eos)});
    if (generated->accuracy)
      page.figures.push_back({.name = tr("Exact matches"),
                              .note = tr("of the expected texts"),
                              .tip = tr("Sequences equal to their target / all with a target. Counted."),
                              .before = percent_text(*generated->accuracy)});
  }
}

void set_recorded_figures(const Situation& s, OverviewPageModel& page) {
  page.figures_title = tr("What was recorded");
  const auto add = [&](const QString& name, const QString& note, const QString& tip, const QString& value) {
    page.figures.push_back({.name = name, .note = note, .tip = tip, .before = value});
  };
  if (s.facts.latency_ms.runs > 0) {
    add(tr("Batches"), tr("recorded"), tr("Counted while the run was recorded."), count_text(s.facts.line.batches));
    add(tr("Latency, 95th percentile"), tr("recording included"),
        tr("95 of 100 recorded batches took at most this long. Measured once each."),
        duration_text(s.facts.latency_ms.p95));
    add(tr("Latency, fastest"), tr("recording included"), tr("The shortest batch. Measured."),
        duration_text(s.facts.latency_ms.min));
  }
  add(tr("Routers"), tr("that chose branches"), tr("Routers of the recorded model."),
      count_text(static_cast<qint64>(s.facts.routers.size())));
  if (const QString branches = branches_of(s.facts); !branches.isEmpty())
    add(tr("Branches"), tr("of each router"), tr("Branches, such as experts, that a router chooses from."), branches);
  if (s.facts.cells > 0)
    add(tr("Cells"), tr("that came to the router with most, without padding"),
        tr("Tokens, patches or pictures. Counted."), count_text(s.facts.cells));
  if (const auto all = std::accumulate(s.facts.cells_by_exit.begin(), s.facts.cells_by_exit.end(), int64_t{0}); all > 0)
    add(tr("Left at %1").arg(to_qstring(exit_name(0, s.facts.cells_by_exit.size()))),
        tr("of %1").arg(counted_text(all, "cell")),
        tr("Cells that left at the first exit / all that left somewhere, the end included. Counted."),
        percent_text(share_at(s.facts.cells_by_exit, 0)));
  if (const std::vector<RouterSummary> routers = routers_of(s); !routers.empty()) {
    double sum = 0;
    for (const RouterSummary& r : routers) sum += r.imbalance;
    const auto most = std::max_element(routers.begin(), routers.end(),
                                       [](const auto& a, const auto& b) { return a.imbalance < b.imbalance; });
    add(tr("Imbalance, mean"), tr("of the routers; the most uneven has %1").arg(number_text(most->imbalance, 2)),
        tr("Max load / mean load - 1 of each router, from counted loads without padding. The most uneven is %1.")
            .arg(most->name),
        number_text(sum / static_cast<double>(routers.size()), 2));
  }
  add(tr("Decisions"), s.facts.line.decisions ? tr("every one is stored") : tr("only their sums are stored"),
      tr("`profile` and `optimize` store each decision."), s.facts.line.decisions ? tr("all") : tr("sums"));
  if (s.guards) add_guards(*s.guards, page);
  if (s.facts.pictures)
    add(tr("Inputs"), tr("small pictures"),
        tr("Kept with --record-inputs, and for demos; a cell is named by its picture and its place in it."),
        s.facts.inputs ? tr("recorded") : tr("not recorded"));
  else
    add(tr("Inputs"), tr("texts or token ids"), tr("Stored with --record-inputs, and for demos."),
        s.facts.inputs ? tr("recorded") : tr("not recorded"));
}

}  // namespace stormcell::views
