// The keys of stormcell.VERB/1 and their members: one row each, for both writing (summary_json.cpp) and reading
// (parse.cpp).
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
#include "core/base/run_kind.h"
#include "core/summary/answer_fields.h"
#include "core/summary/field_of.h"
#include "core/summary/results.h"
#include "core/summary/split_rule.h"
#include "core/summary/structure_fields.h"
#include "core/summary/verification_fields.h"

namespace stormcell {

/// The ending of the key that has the reason of a withheld speed-up in numbers.
inline constexpr const char* kWithheldBy = "_by";

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
  v.text_or_null("differs", p.differs);
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

void fields(auto& v, Of<MeasurementFigures> auto& m) {
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
  v("measurings", f.measurements);
  v("between_spread", f.between_spread);
  v("measured_again_seconds", f.measured_again_seconds);
  v.text_or_null("measured_once", f.measured_once);
  v("split", f.split);
  if (run_kind(f.verb) != RunKind::generate) v("verified", f.verified);  // there it is of tokens
  v("quality", f.quality);
  v("exits", f.exits);
  v("exit_target", f.exit_target);
  v("item_costs", f.item_costs);
  v("changed", f.changed);
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

void fields(auto& v, Of<SamplingFigures> auto& s) {
  v("seed", s.seed);
  v("temperature", s.temperature);
  v("top_k", s.top_k);
  v("top_p", s.top_p);
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
  v("first_token_ms", f.first_token_ms);
  v("token_ms", f.token_ms);
  v("sampling", f.sampling);
  v.group("stopped", [&](auto& why) {
    why("eos", f.stopped_eos);
    why("length", f.stopped_length);
    why("text", f.stopped_text);
  });
  v("accuracy", f.accuracy);
  v("routing", f.routing);
  v.json("settings", f.settings);
  v.text_or_null("session", f.session);
  v.positive_or_null("session_run", f.session_run);
  v.decoded("outputs", f.ids, f.texts);
  v.text_or_null("chat", f.chat);
  v("prompts", f.prompts);
  v("states", f.states);
  v("weight_budget", f.weight_budget);
  v("weights_read", f.weights_read);
  v("verified", f.verified);
  v("warnings", f.warnings);
}

}  // namespace stormcell
