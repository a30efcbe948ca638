// The fields of quality, exits and costs of items (fields.h).
#pragma once
#include "core/figures/figure.h"
#include "core/summary/answer_figures.h"
#include "core/summary/changed_answers.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/field_of.h"
#include "core/summary/quality_text.h"

namespace stormcell {

void fields(auto& v, Of<PlanQuality> auto& q) {
  v.null_unless("value", q.value, is_judged(q),
                Figure::counted("", "The measure's value, in its unit.", Unit::none, Better::more));
  v.null_unless("value_ci95", q.value_ci95, is_judged(q));
  v.derived("value_withheld", not_judged_text(q));
  v("items", q.items, Figure::counted("", "Items that were judged."));
  v("counted", q.counted);
}

void fields(auto& v, Of<GroupQuality> auto& g) {
  v("name", g.name);
  v("items", g.items);
  v("baseline", g.baseline, Figure::counted("", "The baseline's quality."));
  v("optimized", g.optimized, Figure::counted("", "The plan's quality."));
}

void fields(auto& v, Of<WrongAnswer> auto& w) {
  v("item", w.item);
  v("answer", w.answer);
}

void fields(auto& v, Of<QualityFigures> auto& q) {
  v("task", q.task);
  v("measure", q.measure);
  v("unit", q.unit);
  v("interval", q.interval);
  v.text_or_null("counts", q.counts);
  v("item", q.item);
  v("items", q.items);
  v("not_judged", q.not_judged);
  v("judged_share", q.judged_share, Figure::counted("", "Values that were judged, of all.", Unit::share));
  v("batches", q.batches);
  v("baseline", q.baseline);
  v("optimized", q.optimized);
  v("better", q.better, Figure::counted("", "Items that the optimised plan answers better."));
  v("worse", q.worse, Figure::counted("", "Items that the optimised plan answers worse."));
  v("groups", q.groups);
  v("wrong", q.wrong);
}

void fields(auto& v, Of<ExitFigures> auto& e) {
  v.text_or_null("router", e.router);
  v("cost", e.cost, Figure::counted("", "Share of the operations of the whole network.", Unit::share));
  v("baseline_cost", e.baseline_cost, Figure::counted("", "The same in the model's own order.", Unit::share));
  v("items", e.items, Figure::counted("", "Items that left there."));
  v("value", e.value, Figure::counted("", "Their quality."));
  v("value_of_all", e.value_of_all, Figure::counted("", "Quality if every item answers there."));
}

void fields(auto& v, Of<ExitPoint> auto& p) {
  v("threshold", p.threshold, Figure::counted("", "One threshold for all exits."));
  v("mean_cost", p.mean_cost,
    Figure::counted("", "Operations as a share of those through the whole network.", Unit::share));
  v("value", p.value, Figure::counted("", "Quality over the items that can be judged."));
  v("value_ci95", p.value_ci95);
  v("items", p.items);
}

void fields(auto& v, Of<ExitClass> auto& c) {
  v("name", c.name);
  v("items", c.items);
}

void fields(auto& v, Of<ExitCurve> auto& c) {
  v("measure", c.measure);
  v("unit", c.unit);
  v("item", c.item);
  v("items", c.items);
  v("thresholds", c.thresholds);
  v("exits", c.exits);
  v("chosen", c.chosen);
  v("curve", c.curve);
  v("classes", c.classes);
  v("judged", c.judged);
  v.word("plan", c.plan, curve_plan);
}

void fields(auto& v, Of<ExitTarget> auto& t) {
  v.word("of", t.of, bounded);
  v("target", t.target, Figure::counted("", "The target."));
  v("met", t.met, Figure::counted("", "Whether the target was met on the held-out part.", Unit::yes_no));
  v("is_optimum", t.is_optimum, Figure::counted("", "Whether all thresholds were tried.", Unit::yes_no));
  v("measure", t.measure);
  v("unit", t.unit);
  v("item", t.item);
  v("routers", t.routers);
  v("thresholds", t.thresholds);
  v("own_thresholds", t.own_thresholds);
  v("fitted", t.fitted);
  v("predicted", t.predicted);
  v("held_out", t.held_out);
  v("own", t.own);
  v("left_elsewhere", t.left_elsewhere,
    Figure::counted("", "Items that really left at another exit than in the replay."));
  v("fitted_ms", t.fitted_ms, Figure::timed("", "Time on the part that was searched.", Unit::milliseconds));
  v("predicted_ms", t.predicted_ms, Figure::timed("", "Time on the other part, replayed.", Unit::milliseconds));
  v("held_out_ms", t.held_out_ms, Figure::timed("", "Time on the other part, really run.", Unit::milliseconds));
  v("speedup", t.speedup, Figure::speedup("speed-up", "What the thresholds bring over the model's own."));
  v("speedup_ci95", t.speedup_ci95);
  v.withheld("speedup_withheld", t.withheld);
  v("speedup_over_model", t.speedup_over_model,
    Figure::speedup("", "The gain over the model as it came.", "speedup_over_model_withheld"));
  v("speedup_over_model_ci95", t.speedup_over_model_ci95);
  v.withheld("speedup_over_model_withheld", t.over_model_withheld);
  v.derived("exits_taken", exits_taken_text(t));
}

void fields(auto& v, Of<ItemSpent> auto& i) {
  v("item", i.item);
  v("name", i.name);
  v("operations", i.operations, Figure::counted("", "Operations of real cells."));
  v("share", i.share, Figure::counted("", "Share of what all branches would take.", Unit::share));
}

void fields(auto& v, Of<PartsComputed> auto& p) {
  v("mean", p.mean, Figure::counted("", "Parts that were computed, mean of an item."));
  v("mean_ci95", p.mean_ci95);
  v("of", p.of, Figure::counted("", "Parts that there are."));
}

void fields(auto& v, Of<LargestBranch> auto& b) {
  v("operations", b.operations, Figure::counted("", "Operations of the largest branch alone, mean of an item."));
  v("share", b.share, Figure::counted("", "What was spent, of what the largest branch would take.", Unit::share));
  v("share_ci95", b.share_ci95);
}

void fields(auto& v, Of<ItemsSpent> auto& s) {
  v("items", s.items);
  v("share", s.share, Figure::counted("", "Share of what all branches would take for these items.", Unit::share));
  v("share_ci95", s.share_ci95);
  v("parts", s.parts);
}

void fields(auto& v, Of<GroupSpent> auto& g) {
  v("name", g.name);
  v("with", g.with);
  v("without", g.without);
  v("fewer", g.fewer, Figure::counted("", "Part by which the share of those without is smaller.", Unit::share));
  v("fewer_ci95", g.fewer_ci95);
}

void fields(auto& v, Of<ChangedCount> auto& c) {
  v("changed", c.changed);
  v("of", c.of);
  v.derived("share", c.share(), Figure::counted("", "Those that changed, of all.", Unit::share));
  v("share_ci95", c.share_ci95);
}

void fields(auto& v, Of<AnswersChanged> auto& c) {
  v.positive_or_null("run", c.run);
  v("item", c.item);
  v("outputs", c.outputs);
  v.text_or_null("answer", c.answer);
  v("answers", c.answers);
  v("first_token", c.first_token);
  v("first_item", c.first_item);
}

void fields(auto& v, Of<ItemCostFigures> auto& c) {
  v("item", c.item);
  v("items", c.items);
  v("operations", c.operations, Figure::counted("", "Operations spent, mean of an item."));
  v("operations_of_all", c.operations_of_all,
    Figure::counted("", "Operations that all branches would take, mean of an item."));
  v("share", c.share, Figure::counted("", "Share of the two.", Unit::share));
  v("share_ci95", c.share_ci95);
  v("quartiles", c.quartiles);
  v("least", c.least);
  v("most", c.most);
  v("alike", c.alike, Figure::counted("", "Whether all branches would take the same for every item.", Unit::yes_no));
  v("served", c.served,
    Figure::counted("", "The part of the choices that a capacity served; null if none was dropped.", Unit::share));
  v("parts", c.parts);
  v("largest_branch", c.largest_branch);
  v("groups", c.groups);
}

}  // namespace stormcell
