// Which key of stormcell.VERB/1 is which member: one row each, that writing (summary_json.cpp) and reading (parse.cpp)
// both go by.
//
// fields(visitor, struct) hands every member to the visitor with its key, in the order of the file. A member is a text,
// a number, a flag, an optional, a list or a struct that has fields() itself. The visitor's other functions say what is
// special:
//   schema                  the verb and the program's version: how every file begins
//   text_or_null            null where the text is empty
//   infinite_or_null        JSON has no infinity: it is written as null
//   true_unless_said        files of older versions lack it
//   minus_one_unless_said   the same
//   null_unless             null where it is not to be stated
//   positive_or_null        null where there is none
//   left_out_if_empty       a list that has no key where it is empty
//   json                    text that is JSON itself
//   word                    a word in JSON, an enumeration here; null where an optional one has no value. The function
//                           reads a word back
//   withheld                a sentence under the key, its reason and numbers under KEY_by; both null where there is
//                           none
//   group                   an object without a struct of its own
//   list                    a list whose elements have the rows given there
//   shared                  a value that may be absent: null then
//   decoded                 ids and text of each decoded sequence
//   derived                 written, and computed again instead of being read
#pragma once
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "core/base/run_kind.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/quality_text.h"
#include "core/summary/results.h"
#include "core/summary/split_rule.h"

namespace stormcell {

/// The ending of the key that has the reason of a withheld speed-up in numbers.
inline constexpr const char* kWithheldBy = "_by";

template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& v, Of<Latency> auto& l) {
  v("median", l.median);
  v("p95", l.p95);
  v("min", l.min);
  v("mean", l.mean);
  v("mean_ci95", l.mean_ci95);
  v("runs", l.runs);
}

void fields(auto& v, Of<SplitFigures> auto& s) {
  v.word("rule", s.rule, split_rule);
  v("profiled", s.profiled);
  v("measured", s.measured);
  v("same", s.same);
  v("held_out", s.held_out);
}

void fields(auto& v, Of<StateFigures> auto& s) {
  v("planned_bytes", s.planned_bytes);
  v("taken_bytes", s.taken_bytes);
  v("taken_pages", s.taken_pages);
}

void fields(auto& v, Of<WeightsRead> auto& r) {
  v("executions", r.executions);
  v("reads", r.reads);
  v("bytes_read", r.bytes_read);
  v("stall_ms", r.stall_ms);
  v("stall_share", r.stall_share);
}

void fields(auto& v, Of<PlanFigures> auto& p) {
  v("latency_ms", p.latency_ms);
  v("cells_per_s", p.cells_per_s);
  v("tokens_per_s", p.tokens_per_s);
  v("limit_share", p.limit_share);
  v("peak_weight_bytes", p.peak_weight_bytes);
  v("peak_activation_bytes", p.peak_activation_bytes);
  v("measured_batches", p.batches);
  v("rounds", p.rounds);
  v("states", p.states);
  v("weights_read", p.weights_read);
}

void fields(auto& v, Of<ModelFigures> auto& m) {
  v("name", m.name);
  v("family", m.family);
  v("parameters", m.parameters);
  v("weight_bytes", m.weight_bytes);
  v("routers", m.routers);
  v("branches", m.branches);
  v("weights", m.weights);
  v("fingerprint", m.fingerprint);
  v.true_unless_said("weights_stated", m.weights_stated);
  v("unread_tensors", m.unread_tensors);
}

void fields(auto& v, Of<PictureFigures> auto& p) {
  v("height", p.height);
  v("width", p.width);
  v("items", p.items);
  v("batches", p.batches);
}

void fields(auto& v, Of<SkippedFigures> auto& s) {
  v("name", s.name);
  v("reason", s.reason);
}

void fields(auto& v, Of<DatasetFigures> auto& d) {
  v("name", d.name);
  v("batches", d.batches);
  v("cells", d.cells);
  v("cells_without_padding", d.cells_without_padding);
  v("sequences", d.sequences);
  v("truncated", d.truncated);
  v("by_length", d.by_length);
  v("cells_as_given", d.cells_as_given);
  v("cells_by_length", d.cells_by_length);
  v("sizes", d.sizes);
  v("skipped", d.skipped);
  v("skipped_items", d.skipped_items);
  v("masked", d.masked);
  v("unit", d.unit);
  v.text_or_null("note", d.note);
}

void fields(auto& v, Of<DeviceFigures> auto& d) {
  v("name", d.name);
  v("backend", d.backend);
  v("threads", d.threads);
  v.text_or_null("core_placement", d.core_placement);
  v("core_placements", d.core_placements);
  v.text_or_null("isa", d.isa);
  v("peak_gflops", d.peak_gflops);
  v("peak_bf16_gflops", d.peak_bf16_gflops);
  v("read_gbps", d.read_gbps);
  v("peak_gflops_before_and_after", d.peak_readings);
  v("read_gbps_before_and_after", d.read_readings);
}

void fields(auto& v, Of<Flip> auto& f) {
  v("router", f.router);
  v("batch", f.batch);
  v("execution", f.execution);
  v.minus_one_unless_said("turn", f.turn);
  v("cell", f.cell);
  v.minus_one_unless_said("item", f.item);
  v("position", f.position);
  v("above", f.above);
  v("reference", f.reference);
  v("ours", f.ours);
  v.infinite_or_null("margin", f.margin);
  v("score_error", f.score_error);
  v("explained", f.explained);
  v("follows", f.follows);
}

void fields(auto& v, Of<OutputDifference> auto& o) {
  v("name", o.name);
  v.infinite_or_null("max_abs_diff", o.max_abs_diff);
  v.infinite_or_null("max_rel_diff", o.max_rel_diff);
  v.infinite_or_null("free_max_rel_diff", o.free_max_rel_diff);
}

void fields(auto& v, Of<RouterDifference> auto& r) {
  v("router", r.router);
  v.infinite_or_null("score_error", r.score_error);
  v("score_scale", r.score_scale);
  v.infinite_or_null("weight_error", r.weight_error);
  v("flips", r.flips);
  v("explained_flips", r.explained_flips);
}

void fields(auto& v, Of<FormatCost> auto& f) {
  v("dtype", f.dtype);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v("tolerance", f.tolerance);
  v("passed", f.passed);
  v.list("outputs", f.outputs, [](auto& each, Of<OutputDifference> auto& o) {
    each("name", o.name);
    each.infinite_or_null("max_rel_diff", o.max_rel_diff);
    each.infinite_or_null("free_max_rel_diff", o.free_max_rel_diff);
  });
  v.infinite_or_null("free_max_rel_diff", f.free_max_rel_diff);
  v("choices", f.choices);
  v("differing_choices", f.differing_choices);
  v("sequences", f.sequences);
  v("equal_sequences", f.equal_sequences);
  v.derived("differing_share", f.choices > 0 ? static_cast<double>(f.differing_choices) / f.choices : 0.0);
}

void fields(auto& v, Of<DecodedTokens> auto& t) {
  v("sequences", t.sequences);
  v("equal", t.equal);
  v("tokens", t.tokens);
  v("compared", t.compared);
  v("near_ties", t.near_ties);
  v("follows", t.follows);
}

void fields(auto& v, Of<JudgedPart> auto& p) {
  v("batch", p.batch);
  v("pictures", p.pictures);
  v("of", p.of);
}

void fields(auto& v, Of<Verification> auto& f) {
  v("passed", f.passed);
  v("text", f.text);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("tolerance", f.tolerance);
  v.infinite_or_null("max_abs_diff", f.max_abs_diff);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v.infinite_or_null("free_max_rel_diff", f.free_max_rel_diff);
  v("batches", f.batches);
  v("parts", f.parts);
  v("baseline_batches", f.baseline_batches);
  v("flips", f.flips);
  v("explained_flips", f.explained_flips);
  v("consequences", f.consequences);
  v("dropped", f.dropped);
  v("nonfinite", f.nonfinite);
  v("outputs", f.outputs);
  v("routers", f.routers);
  v("format", f.format);
  v("tokens", f.tokens);
  v("seconds", f.seconds);
  v("listed_flips", f.listed);
}

void fields(auto& v, Of<HeldOutRouter> auto& h) {
  v("router", h.router);
  v("cells", h.cells);
  v("otherwise", h.otherwise);
}

void fields(auto& v, Of<PassReport> auto& p) {
  v("name", p.name);
  v("applied", p.applied);
  v("reason", p.reason);
  v("reason_without_speeds", p.reason_without_speeds);
  v("left_out", p.left_out);
  v("leaves_padding_out", p.leaves_padding_out);
  v.withheld("speedup_withheld", p.withheld);
  v.derived("predicted_speedup", nullptr);  // no model of time is good enough to be shown: docs/decisions/011
  v("speedup_alone", p.speedup_alone);
  v("speedup_alone_ci95", p.speedup_alone_ci95);
  v("speedup_own", p.speedup_own);
  v("speedup_own_ci95", p.speedup_own_ci95);
  v("speedup_cumulative", p.speedup_cumulative);
  v("speedup_cumulative_ci95", p.speedup_cumulative_ci95);
  v("guard_hits", p.guard_hits);
  v("fallbacks", p.fallbacks);
  v("held_out", p.held_out);
  v("options", p.options);
  v("parameters", p.parameters);
}

void fields(auto& v, Of<RouterFigures> auto& r) {
  v("router", r.router);
  v("branches", r.branches);
  v("fan_out", r.fan_out);
  v("cells", r.cells);
  v("load", r.load);
  v("imbalance", r.imbalance);
  v("entropy", r.entropy);
  v("dropped", r.dropped);
  v("label_information", r.label_information);
  v("cells_real", r.cells_real);
  v("load_real", r.load_real);
  v("imbalance_real", r.imbalance_real);
  v("entropy_real", r.entropy_real);
}

void fields(auto& v, Of<OperatorTime> auto& o) {
  v("op", o.op);
  v("steps", o.steps);
  v("batches", o.batches);
  v.derived("steps_per_batch", o.batches > 0 ? static_cast<double>(o.steps) / o.batches : 0.0);
  v("ms_per_batch", o.milliseconds);
  v("limit_ms_per_batch", o.limit_milliseconds);
  v("limit_compute_ms_per_batch", o.limit_compute_milliseconds);
  v.derived("in_cache", o.in_cache());
}

void fields(auto& v, Of<BudgetFigures> auto& b) {
  v("budget_bytes", b.budget_bytes);
  v("dense_bytes", b.dense_bytes);
  v("expert_bytes", b.expert_bytes);
  v("slot_bytes", b.slot_bytes);
  v("pinned_bytes", b.pinned_bytes);
  v("arena_bytes", b.arena_bytes);
  v("executions", b.executions);
  v("readers", b.readers);
  v("reads", b.reads);
  v("bytes_read", b.bytes_read);
  v("bytes_filled", b.bytes_filled);
  v("evictions", b.evictions);
  v("stall_seconds", b.stall_seconds);
  v("measured_executions", b.measured_executions);
  v("measured_reads", b.measured_reads);
  v("measured_bytes_read", b.measured_bytes_read);
  v("measured_stall_seconds", b.measured_stall_seconds);
  v("held_bytes", b.held_bytes);
  v("held_counted", b.held_counted);
  v("peak_bytes", b.peak_bytes);
}

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

void fields(auto& v, Of<MeasuringFigures> auto& m) {
  v("fresh_process", m.fresh_process);
  v("speedup", m.speedup);
  v("speedup_ci95", m.speedup_ci95);
  v("baseline_ms", m.baseline_ms);
  v("plan_ms", m.plan_ms);
}

void fields(auto& v, Of<RunSummaryFigures> auto& f) {
  v.schema(f.verb, f.version);
  v("model", f.model);
  v("dataset", f.dataset);
  v("device", f.device);
  v("phase", f.phase);
  v("dense", f.dense);
  v("baseline", f.baseline);
  v("optimized", f.optimized);
  v("dense_baseline_latency_ms", f.dense_baseline_ms);
  v("routing_speedup", f.routing_speedup);
  v("routing_speedup_ci95", f.routing_speedup_ci95);
  v.withheld("routing_speedup_withheld", f.routing_withheld);
  v("speedup", f.speedup);
  v("speedup_ci95", f.speedup_ci95);
  v.withheld("speedup_withheld", f.withheld);
  v("other_load", f.other_load);
  v.word("speedup_basis", f.speedup_basis, ratio_basis);
  v("measurings", f.measurings);
  v("between_spread", f.between_spread);
  v("measured_again_seconds", f.measured_again_seconds);
  v.text_or_null("measured_once", f.measured_once);
  v("split", f.split);
  if (run_kind(f.verb) != RunKind::generate) v("verified", f.verified);  // there it is of tokens
  v("quality", f.quality);
  v("exits", f.exits);
  v("exit_target", f.exit_target);
  v("item_costs", f.item_costs);
  v("passes", f.passes);
  v("routing", f.routing);
  v.derived("routing_of", f.baseline ? "baseline" : "optimized");  // the plan whose cells are counted
  v.derived("preload", nullptr);
  if (run_kind(f.verb) == RunKind::profile) {
    v("decisions", f.decisions);
    v("windows", f.windows);
    v("labels", f.labels);
    v("record_overhead", f.record_overhead);
    v("record_overhead_ci95", f.record_overhead_ci95);
    v("record_work", f.record_work);
  }
  v.group("operators", [&](auto& plans) {
    plans("baseline", f.baseline_operators);
    plans("optimized", f.optimized_operators);
  });
  v("time_limit_seconds", f.time_limit_seconds);
  v("expected_seconds", f.expected_seconds);
  v("likely_seconds", f.likely_seconds);
  v("elapsed_seconds", f.elapsed_seconds);
  v("passes_tried_on", f.passes_tried_on);
  v("left_out_for_time", f.left_out_for_time);
  v.text_or_null("limit_overrun", f.limit_overrun);
  v("load_seconds", f.load_seconds);
  v("unloaded_weight_bytes", f.unloaded_weight_bytes);
  v("peak_resident_bytes", f.peak_resident_bytes);
  v("weight_budget", f.weight_budget);
  v("annotated", f.annotated);
  v.json("settings", f.settings);
  v("warnings", f.warnings);
  v.text_or_null("session", f.session);
  v.positive_or_null("session_run", f.session_run);
  v.json("config", f.config);
  v.shared("decode", f.decode);
}

void fields(auto& v, Of<DecodedVerification> auto& f) {
  v("passed", f.passed);
  v("text", f.text);
  v("batches", f.batches);
  v("sequences", f.sequences);
  v("equal", f.equal);
  v("tokens", f.tokens);
  v("reasons", f.reasons);
  v.text_or_null("what_to_do", f.what_to_do);
  v("compared", f.compared);
  v("tolerance", f.tolerance);
  v.infinite_or_null("max_rel_diff", f.max_rel_diff);
  v("flips", f.flips);
  v("explained_flips", f.explained_flips);
  v("near_ties", f.near_ties);
  v("follows", f.follows);
}

void fields(auto& v, Of<GenerateFigures> auto& f) {
  v.schema("generate", f.version);
  v("model", f.model);
  v("dataset", f.dataset);
  v("device", f.device);
  v.derived("phase", "decode");
  v("batches", f.batches);
  v("sequences", f.sequences);
  v("tokens", f.tokens);
  v("tokens_per_s", f.tokens_per_s);
  v("latency_ms", f.latency_ms);
  v.group("stopped", [&](auto& why) {
    why("eos", f.stopped_eos);
    why("length", f.stopped_length);
  });
  v("accuracy", f.accuracy);
  v("routing", f.routing);
  v.json("settings", f.settings);
  v.text_or_null("session", f.session);
  v.positive_or_null("session_run", f.session_run);
  v.decoded("outputs", f.ids, f.texts);
  v("states", f.states);
  v("weight_budget", f.weight_budget);
  v("weights_read", f.weights_read);
  v("verified", f.verified);
  v("warnings", f.warnings);
}

void fields(auto& v, Of<RouterStructure> auto& r) {
  v("name", r.name);
  v("branches", r.branches);
  v("cell_space", r.cell_space);
  v("protocol", r.protocol);
  v("depends", r.depends);
  v.group("hoistable", [&](auto& work) {
    work("bytes", r.hoistable_bytes);
    work("flops", r.hoistable_flops);
  });
  v("mixes", r.mixes);
  v("exit_cost", r.exit_cost);
}

void fields(auto& v, Of<PictureStructure> auto& p) {
  v("height", p.height);
  v("width", p.width);
  v("channels", p.channels);
  v.positive_or_null("least", p.least);
  v.positive_or_null("most", p.most);
}

void fields(auto& v, Of<GridStructure> auto& g) {
  v("cell_space", g.cell_space);
  v("rows", g.rows);
  v("columns", g.columns);
  v("patch_height", g.patch_height);
  v("patch_width", g.patch_width);
  v("stride", g.stride);
}

void fields(auto& v, Of<InputStructure> auto& i) {
  v("name", i.name);
  v("role", i.role);
  v("cell_space", i.cell_space);
  v("content", i.content);
}

void fields(auto& v, Of<ItemFlops> auto& f) {
  v("first_exit", f.first_exit);
  v("whole", f.whole);
}

void fields(auto& v, Of<SegmentStructure> auto& s) {
  v("kind", s.kind);
  v.text_or_null("of", s.of);
  v("leaf", s.leaf);
  v("begin", s.begin);
  v("end", s.end);
  v("kernels", s.kernels);
  v("branches", s.branches);
  v("guards", s.guards);
  v("repeats", s.repeats);
  v.text_or_null("ends", s.ends);
  v.text_or_null("at", s.at);
  v("children", s.children);
}

void fields(auto& v, Of<PlanStructure> auto& p) {
  v.word("phase", p.phase, work_phase);
  v.positive_or_null("weight_budget", p.weight_budget);
  v("steps", p.steps);
  v("leaves", p.leaves);
  v("ends", p.ends);
  v.derived("resident", p.ends == 0);
  v("program", p.program);
}

void fields(auto& v, Of<KernelsOfOperator> auto& k) {
  v("operator", k.op);
  v.left_out_if_empty("devices", k.devices);
  v("names", k.names);
}

void fields(auto& v, Of<SheetLack> auto& l) {
  v("what", l.what);
  v.text_or_null("where", l.where);
  v.positive_or_null("count", l.count);
}

void fields(auto& v, Of<SheetFormat> auto& f) {
  v("tensors", f.tensors);
  v("parameters", f.parameters);
  v("bytes", f.bytes);
}

void fields(auto& v, Of<SheetMemory> auto& m) {
  v.positive_or_null("total_bytes", m.total_bytes);
  v.positive_or_null("available_bytes", m.available_bytes);
  v("expert_bytes", m.expert_bytes);
  v("rest_bytes", m.rest_bytes);
  v.positive_or_null("token_bytes", m.token_bytes);
  v.text_or_null("fits", m.fits);
}

void fields(auto& v, Of<SheetRate> auto& r) {
  v("low", r.low);
  v("high", r.high);
}

void fields(auto& v, Of<ModelSheet> auto& s) {
  v.schema("sheet", s.version);
  v("kind", s.kind);
  v("name", s.name);
  v.text_or_null("family", s.family);
  v.text_or_null("routing", s.routing);
  v("runnable", s.runnable);
  v("lacks", s.lacks);
  v.positive_or_null("parameters", s.parameters);
  v.positive_or_null("active_parameters", s.active_parameters);
  v.positive_or_null("layers", s.layers);
  v.positive_or_null("layers_with_experts", s.layers_with_experts);
  v.positive_or_null("experts", s.experts);
  v.positive_or_null("k", s.k);
  v("files", s.files);
  v.positive_or_null("bytes", s.bytes);
  v("formats", s.formats);
  v.text_or_null("tokenizer", s.tokenizer);
  v.text_or_null("template", s.chat_template);
  v("memory", s.memory);
  v("tokens_per_s", s.tokens_per_s);
  v.text_or_null("recorder", s.recorder);
  v("warnings", s.warnings);
}

void fields(auto& v, Of<ModelStructure> auto& s) {
  v.schema("inspect", s.version);
  v("name", s.name);
  v("family", s.family);
  v("weights", s.weights);
  v.true_unless_said("weights_stated", s.weights_stated);
  v("parameters", s.parameters);
  v("weight_bytes", s.weight_bytes);
  v("expert_bytes", s.expert_bytes);
  v.positive_or_null("least_weight_budget", s.least_budget);
  v("flops_per_cell", s.flops_per_cell);
  v("item_flops", s.item_flops);
  v("inputs", s.inputs);
  v("picture", s.picture);
  v("grids", s.grids);
  v("routers", s.routers);
  v("operators", s.operators);
  v("kernels", s.kernels);
  v("annotations", s.annotations);
  v("plan", s.plan);
  v("unsupported", s.unsupported);
  v("warnings", s.warnings);
  v("sheet", s.sheet);
}

}  // namespace stormcell
