// The fields of quality, exits and costs of items (fields.h).
#pragma once
#include "core/summary/answer_figures.h"
#include "core/summary/changed_answers.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/field_of.h"
#include "core/summary/quality_text.h"

namespace stormcell {

void fields(auto& v, Of<PlanQuality> auto& q) {
  v.null_unless("value", q.value, is_judged(q));
  v.null_unless("value_ci95", q.value_ci95, is_judged(q));
  v.derived("value_withheld", not_judged_text(q));
  v("items", q.items);
  v("counted", q.counted);
}

void fields(auto& v, Of<GroupQuality> auto& g) {
  v("name", g.name);
  v("items", g.items);
  v("baseline", g.baseline);
  v("optimized", g.optimized);
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
  v("judged_share", q.judged_share);
  v("batches", q.batches);
  v("baseline", q.baseline);
  v("optimized", q.optimized);
  v("better", q.better);
  v("worse", q.worse);
  v("groups", q.groups);
  v("wrong", q.wrong);
}

void fields(auto& v, Of<ExitFigures> auto& e) {
  v.text_or_null("router", e.router);
  v("cost", e.cost);
  v("baseline_cost", e.baseline_cost);
  v("items", e.items);
  v("value", e.value);
  v("value_of_all", e.value_of_all);
}

void fields(auto& v, Of<ExitPoint> auto& p) {
  v("threshold", p.threshold);
  v("mean_cost", p.mean_cost);
  v("value", p.value);
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
  v("target", t.target);
  v("met", t.met);
  v("is_optimum", t.is_optimum);
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
  v("left_elsewhere", t.left_elsewhere);
  v("fitted_ms", t.fitted_ms);
  v("predicted_ms", t.predicted_ms);
  v("held_out_ms", t.held_out_ms);
  v("speedup", t.speedup);
  v("speedup_ci95", t.speedup_ci95);
  v.withheld("speedup_withheld", t.withheld);
  v("speedup_over_model", t.speedup_over_model);
  v("speedup_over_model_ci95", t.speedup_over_model_ci95);
  v.withheld("speedup_over_model_withheld", t.over_model_withheld);
  v.derived("exits_taken", exits_taken_text(t));
}

void fields(auto& v, Of<ItemSpent> auto& i) {
  v("item", i.item);
  v("name", i.name);
  v("operations", i.operations);
  v("share", i.share);
}

void fields(auto& v, Of<PartsComputed> auto& p) {
  v("mean", p.mean);
  v("mean_ci95", p.mean_ci95);
  v("of", p.of);
}

void fields(auto& v, Of<LargestBranch> auto& b) {
  v("operations", b.operations);
  v("share", b.share);
  v("share_ci95", b.share_ci95);
}

void fields(auto& v, Of<ItemsSpent> auto& s) {
  v("items", s.items);
  v("share", s.share);
  v("share_ci95", s.share_ci95);
  v("parts", s.parts);
}

void fields(auto& v, Of<GroupSpent> auto& g) {
  v("name", g.name);
  v("with", g.with);
  v("without", g.without);
  v("fewer", g.fewer);
  v("fewer_ci95", g.fewer_ci95);
}

void fields(auto& v, Of<ChangedCount> auto& c) {
  v("changed", c.changed);
  v("of", c.of);
  v.derived("share", c.share());
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
  v("operations", c.operations);
  v("operations_of_all", c.operations_of_all);
  v("share", c.share);
  v("share_ci95", c.share_ci95);
  v("quartiles", c.quartiles);
  v("least", c.least);
  v("most", c.most);
  v("alike", c.alike);
  v("served", c.served);
  v("parts", c.parts);
  v("largest_branch", c.largest_branch);
  v("groups", c.groups);
}

}  // namespace stormcell
