// The keys of stormcell.VERB/1 and their members: one row each, for writing (field_writer.h), reading (parse.cpp)
// and description (core/figures/describe.h).
//
// fields(visitor, struct) hands every member to the visitor with its key, in the order of the file. A member is a text,
// a number, a flag, an optional, a list or a struct that has fields() itself. The last argument of a row is its Figure
// (core/figures/figure.h): name, definition, unit, direction and origin. Whole numbers and flags are counted if they have
// none; a real number without one does not compile. The visitor's other functions say what is special:
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
//   group_or_null           the same, or null
//   list                    a list whose elements have the rows given there
//   shared                  a value that may be absent: null then
//   decoded                 ids and text of each decoded sequence
//   derived                 written, and computed again instead of being read
#pragma once
#include "core/base/run_kind.h"
#include "core/figures/figure.h"
#include "core/summary/answer_fields.h"
#include "core/summary/field_of.h"
#include "core/summary/results.h"
#include "core/summary/split_rule.h"
#include "core/summary/structure_fields.h"
#include "core/summary/verification_fields.h"

namespace stormcell {

void fields(auto& v, Of<Latency> auto& l) {
  v("median", l.median, Figure::worked("latency, median", "Median time of a batch.", Unit::milliseconds, Better::less));
  v("p95", l.p95,
    Figure::worked("latency, 95th percentile", "95 of 100 batches take at most this long.", Unit::milliseconds,
                   Better::less));
  v("min", l.min, Figure::worked("latency, fastest", "Time of the fastest batch.", Unit::milliseconds, Better::less));
  v("mean", l.mean,
    Figure::worked("latency, mean", "Mean time of a batch, of the pairs that the speed-up comes from.",
                   Unit::milliseconds, Better::less));
  v("mean_ci95", l.mean_ci95);
  v("runs", l.runs, Figure::worked("executions measured", "Executions that the times are of.", Unit::none));
}

void fields(auto& v, Of<SplitFigures> auto& s) {
  v.word("rule", s.rule, split_rule);
  v("profiled", s.profiled);
  v("measured", s.measured);
  v("same", s.same);
  v("held_out", s.held_out);
}

void fields(auto& v, Of<StateFigures> auto& s) {
  v("planned_bytes", s.planned_bytes,
    Figure::counted("states of sequences, planned", "Pages for the longest sequences, if all of a batch were so long.",
                    Unit::bytes, Better::less));
  v("taken_bytes", s.taken_bytes,
    Figure::counted("states of sequences, taken at most",
                    "Pages that the sequences of one batch took by their own lengths.", Unit::bytes, Better::less));
  v("taken_pages", s.taken_pages,
    Figure::counted("pages of states, taken at most", "The same as a number of pages.", Unit::none, Better::less));
}

void fields(auto& v, Of<WeightsRead> auto& r) {
  v("executions", r.executions,
    Figure::worked("executions timed under the budget", "Executions that the means are of.", Unit::none));
  v("reads", r.reads,
    Figure::worked("weights of branches read, each execution", "Weights that were not in memory, mean of an execution.",
                   Unit::none, Better::less));
  v("bytes_read", r.bytes_read,
    Figure::worked("read from files, each execution",
                   "Bytes as they are stored, mean of an execution (0 if weights are drawn).", Unit::bytes,
                   Better::less));
  v("stall_ms", r.stall_ms,
    Figure::worked("waits for weights, each execution", "Mean time in which an execution stood still for weights.",
                   Unit::milliseconds, Better::less));
  v("stall_share", r.stall_share,
    Figure::worked("waits for weights, of its time",
                   "Time that executions stood still for weights, divided by their time.", Unit::share, Better::less));
}

void fields(auto& v, Of<PlanFigures> auto& p) {
  v("latency_ms", p.latency_ms);
  v("cells_per_s", p.cells_per_s,
    Figure::worked("cells a second", "Cells of all batches without padding, divided by their time.", Unit::none,
                   Better::more));
  v("tokens_per_s", p.tokens_per_s,
    Figure::worked("tokens a second", "Tokens written, divided by the time.", Unit::none, Better::more));
  v("limit_share", p.limit_share,
    Figure::worked("share of the limit",
                   "Sum over operators of max(bytes / bandwidth, FLOP / peak), divided by the measured time.",
                   Unit::limit_share, Better::more));
  v("peak_weight_bytes", p.peak_weight_bytes,
    Figure::counted("weights, at most", "Most bytes of weights held at once.", Unit::bytes, Better::less));
  v("peak_activation_bytes", p.peak_activation_bytes,
    Figure::counted("activations, at most", "Size of the planned buffer.", Unit::bytes, Better::less));
  v("measured_batches", p.batches, Figure::measured("", "Batches of the data that were measured."));
  v("rounds", p.rounds, Figure::measured("", "Rounds that the interval is drawn over."));
  v("states", p.states);
  v("weights_read", p.weights_read);
}

void fields(auto& v, Of<ModelFigures> auto& m) {
  v("name", m.name);
  v("family", m.family);
  v("parameters", m.parameters);
  v("weight_bytes", m.weight_bytes,
    Figure::counted("weights of the model", "Weights as they are stored.", Unit::bytes));
  v("routers", m.routers);
  v("branches", m.branches);
  v("weights", m.weights);
  v("fingerprint", m.fingerprint);
  v.true_unless_said("weights_stated", m.weights_stated);
  v("unread_tensors", m.unread_tensors, Figure::counted("", "Tensors of the files that no operator reads."));
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
  v("cells", d.cells, Figure::counted("", "Cells of the batches that ran, with padding; `unit` says what a cell is."));
  v("cells_without_padding", d.cells_without_padding, Figure::counted("", "The same without padding."));
  v("sequences", d.sequences);
  v("truncated", d.truncated);
  v("by_length", d.by_length, Figure::counted("", "Whether these were batches of similar length."));
  v("cells_as_given", d.cells_as_given, Figure::counted("", "Cells in batches in the order of the data."));
  v("cells_by_length", d.cells_by_length, Figure::counted("", "Cells in batches of similar length."));
  v("sizes", d.sizes);
  v("skipped", d.skipped, Figure::counted("", "Files that were skipped."));
  v("skipped_items", d.skipped_items);
  v("masked", d.masked, Figure::counted("", "Sequences in which a mask leaves no token."));
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
  v("peak_gflops", d.peak_gflops, Figure::measured("", "Largest reading of the arithmetic ceiling, GFLOP/s."));
  v("peak_bf16_gflops", d.peak_bf16_gflops, Figure::measured("", "The same in bf16."));
  v("read_gbps", d.read_gbps, Figure::measured("", "Largest reading of the ceiling of reading memory, GB/s."));
  v("peak_gflops_before_and_after", d.peak_readings,
    Figure::measured("", "Best reading of the first and of the last half."));
  v("read_gbps_before_and_after", d.read_readings,
    Figure::measured("", "Best reading of the first and of the last half."));
}

void fields(auto& v, Of<HeldOutRouter> auto& h) {
  v("router", h.router);
  v("cells", h.cells, Figure::counted("", "Cells of held-out batches that the router decided about."));
  v("otherwise", h.otherwise, Figure::counted("", "Those of them that went another way."));
}

void fields(auto& v, Of<PassReport> auto& p) {
  v("name", p.name);
  v("applied", p.applied, Figure::counted("applied", "Whether the plan has the pass.", Unit::yes_no));
  v("reason", p.reason);
  v("reason_without_speeds", p.reason_without_speeds);
  v("left_out", p.left_out,
    Figure::counted("", "Whether the pass could be applied, and lost or is not equal to the model.", Unit::yes_no));
  v.text_or_null("differs", p.differs);
  v("leaves_padding_out", p.leaves_padding_out);
  v.withheld("speedup_withheld", p.withheld);
  v.derived("predicted_speedup", nullptr);  // no model of time is good enough to be shown: docs/decisions/011
  v("speedup_alone", p.speedup_alone,
    Figure::speedup("speed-up alone", "Baseline / this pass alone, of the time of all batches."));
  v("speedup_alone_ci95", p.speedup_alone_ci95);
  v("speedup_own", p.speedup_own,
    Figure::speedup("own speed-up", "The plan without this pass / with it, of the time of all batches."));
  v("speedup_own_ci95", p.speedup_own_ci95);
  v("speedup_cumulative", p.speedup_cumulative,
    Figure::speedup("speed-up with those above",
                    "Baseline / this and all passes before it, of the time of all batches."));
  v("speedup_cumulative_ci95", p.speedup_cumulative_ci95);
  v("guard_hits", p.guard_hits, Figure::counted("", "Times that its guards held, over all batches."));
  v("fallbacks", p.fallbacks,
    Figure::counted("", "Times that its guards did not hold and the fallback ran.", Unit::none, Better::less));
  v("held_out", p.held_out);
  v("options", p.options);
  v("parameters", p.parameters);
}

void fields(auto& v, Of<RouterFigures> auto& r) {
  v("router", r.router);
  v("branches", r.branches);
  v("fan_out", r.fan_out);
  v("cells", r.cells);
  v("load", r.load, Figure::counted("", "Cells that each branch got, padding included."));
  v("imbalance", r.imbalance, Figure::counted("imbalance", "max load / mean load - 1.", Unit::none, Better::less));
  v("entropy", r.entropy, Figure::counted("entropy, bits", "Entropy of the loads' distribution."));
  v("dropped", r.dropped, Figure::counted("", "Cells that a capacity dropped.", Unit::none, Better::less));
  v("label_information", r.label_information,
    Figure::counted("information on labels, bits", "Bits that label and branch share."));
  v("cells_real", r.cells_real, Figure::counted("", "Cells without padding."));
  v("load_real", r.load_real, Figure::counted("", "Cells that each branch got, without padding."));
  v("imbalance_real", r.imbalance_real, Figure::counted("", "Imbalance without padding."));
  v("entropy_real", r.entropy_real, Figure::counted("", "Entropy without padding."));
}

void fields(auto& v, Of<OperatorTime> auto& o) {
  v("op", o.op);
  v("steps", o.steps);
  v("batches", o.batches);
  v.derived("steps_per_batch", o.batches > 0 ? static_cast<double>(o.steps) / o.batches : 0.0,
            {.definition = "Steps of a batch.", .origin = Origin::counted, .scope = Scope::work});
  v("ms_per_batch", o.milliseconds,
    Figure::worked("time of a batch", "Time of the operator in a batch.", Unit::milliseconds, Better::less));
  v("limit_ms_per_batch", o.limit_milliseconds,
    Figure::worked("limit of a batch", "max(bytes / bandwidth, FLOP / peak), by the measured ceilings.",
                   Unit::milliseconds));
  v("limit_compute_ms_per_batch", o.limit_compute_milliseconds,
    Figure::worked("", "FLOP / peak, by the measured ceiling.", Unit::milliseconds));
  v.derived("in_cache", o.in_cache(),
            Figure::measured("", "Whether it was faster than memory allows though not faster than the arithmetic.",
                             Unit::yes_no));
}

void fields(auto& v, Of<BudgetFigures> auto& b) {
  v("budget_bytes", b.budget_bytes,
    Figure::counted("budget for weights of branches", "--weight-budget: a time under another budget is not a speed-up.",
                    Unit::bytes));
  v("dense_bytes", b.dense_bytes,
    Figure::counted("other weights, in memory all the time", "Weights beside the budget.", Unit::bytes));
  v("expert_bytes", b.expert_bytes,
    Figure::counted("weights of branches, all", "All weights of branches as they are laid out.", Unit::bytes));
  v("slot_bytes", b.slot_bytes,
    Figure::counted("room for weights that come and go", "Bytes of the budget.", Unit::bytes));
  v("pinned_bytes", b.pinned_bytes,
    Figure::counted("weights of branches that never change", "Weights with residency=pinned.", Unit::bytes));
  v("arena_bytes", b.arena_bytes,
    Figure::counted("activations and states", "Activations, states, inputs and records.", Unit::bytes));
  v("executions", b.executions,
    Figure::summed("Batches as often as they ran, with those of the verification and of every plan."));
  v("readers", b.readers, Figure::counted("", "Threads that read."));
  v("reads", b.reads, Figure::summed("Weights of branches that were read."));
  v("bytes_read", b.bytes_read,
    Figure::summed("Bytes read from files (0 if weights are drawn).", Unit::bytes, Origin::counted, Better::less));
  v("bytes_filled", b.bytes_filled, Figure::summed("Bytes filled in memory.", Unit::bytes));
  v("evictions", b.evictions, Figure::summed("Weights that gave way to others."));
  v("stall_seconds", b.stall_seconds,
    Figure::summed("Time that executions waited for weights.", Unit::seconds, Origin::measured));
  v("measured_executions", b.measured_executions, Figure::summed("Executions that were timed, of all plans."));
  v("measured_reads", b.measured_reads, Figure::summed("Weights that these read."));
  v("measured_bytes_read", b.measured_bytes_read,
    Figure::summed("Bytes that these read.", Unit::bytes, Origin::counted, Better::less));
  v("measured_stall_seconds", b.measured_stall_seconds,
    Figure::summed("Time that these waited.", Unit::seconds, Origin::measured));
  v("held_bytes", b.held_bytes,
    Figure::measured("held at most after an execution",
                     "Memory of the whole process as the system counts it, before the verification.", Unit::bytes));
  v("held_counted", b.held_counted);
  v("peak_bytes", b.peak_bytes,
    Figure::measured("resident at any time before the verification", "Resident memory of the process at any time.",
                     Unit::bytes));
}

void fields(auto& v, Of<MeasurementFigures> auto& m) {
  v("fresh_process", m.fresh_process);
  v("speedup", m.speedup, Figure::speedup("", "Speed-up within the process."));
  v("speedup_ci95", m.speedup_ci95);
  v("baseline_ms", m.baseline_ms, Figure::timed("", "Mean time of a batch of the baseline.", Unit::milliseconds));
  v("plan_ms", m.plan_ms, Figure::timed("", "Mean time of a batch of the plan.", Unit::milliseconds));
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
  v("routing_speedup", f.routing_speedup,
    Figure::speedup("", "The dense plan / the baseline: what routing alone brings.", "routing_speedup_withheld"));
  v("routing_speedup_ci95", f.routing_speedup_ci95);
  v.withheld("routing_speedup_withheld", f.routing_withheld);
  v("speedup", f.speedup, Figure::speedup("speed-up", "Baseline / optimised, of the time of all batches."));
  v("speedup_ci95", f.speedup_ci95);
  v.withheld("speedup_withheld", f.withheld);
  v("other_load", f.other_load,
    Figure::measured("", "The part of the processors that other processes took.", Unit::share));
  v.word("speedup_basis", f.speedup_basis, ratio_basis);
  v("measurings", f.measurements);
  v("between_spread", f.between_spread,
    Figure::measured("", "Standard deviation of the logarithms between processes; null if not known."));
  v("measured_again_seconds", f.measured_again_seconds,
    Figure::timed("", "Time that the fresh processes took.", Unit::seconds));
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
    v("decisions", f.decisions, Figure::counted("", "Decisions that were recorded."));
    v("windows", f.windows);
    v("labels", f.labels);
    v("record_overhead", f.record_overhead,
      Figure::timed("", "Time that recording adds, as a share of the run.", Unit::share, Better::less));
    v("record_overhead_ci95", f.record_overhead_ci95);
    v("record_work", f.record_work,
      Figure::timed("", "Time that recording itself took, as a share of the run.", Unit::share));
  }
  v.group("operators", [&](auto& plans) {
    plans("baseline", f.baseline_operators);
    plans("optimized", f.optimized_operators);
  });
  v("time_limit_seconds", f.time_limit_seconds,
    Figure::timed("", "The limit for the whole command, or null.", Unit::seconds));
  v("expected_seconds", f.expected_seconds);
  v("likely_seconds", f.likely_seconds, Figure::timed("", "The probable time of the command.", Unit::seconds));
  v("elapsed_seconds", f.elapsed_seconds, Figure::timed("", "The time that the command took.", Unit::seconds));
  v("passes_tried_on", f.passes_tried_on,
    Figure::counted("", "Batches on which passes were tried one by one; null if they were not."));
  v("left_out_for_time", f.left_out_for_time);
  v.text_or_null("limit_overrun", f.limit_overrun);
  v("load_seconds", f.load_seconds,
    Figure::timed("", "Time of reading and packing weights.", Unit::seconds, Better::less));
  v("unloaded_weight_bytes", f.unloaded_weight_bytes,
    Figure::counted("weights not needed", "Weights that no input needed.", Unit::bytes, Better::more));
  v("peak_resident_bytes", f.peak_resident_bytes,
    Figure::measured("whole process, at most", "Largest resident memory.", Unit::bytes));
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
  v("temperature", s.temperature, Figure::counted("", "The temperature of draws."));
  v("top_k", s.top_k, Figure::counted("", "The most tokens that are drawn from (0 for all)."));
  v("top_p", s.top_p, Figure::counted("", "The probability that the drawn tokens have together."));
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
  v("tokens_per_s", f.tokens_per_s,
    Figure::worked("tokens a second", "Tokens written, divided by the time.", Unit::none, Better::more));
  v("latency_ms", f.latency_ms);
  v("first_token_ms", f.first_token_ms);
  v("token_ms", f.token_ms);
  v("sampling", f.sampling);
  v.group("stopped", [&](auto& why) {
    why("eos", f.stopped_eos, Figure::counted("", "Texts that ended at an end token."));
    why("length", f.stopped_length, Figure::counted("", "Texts that ended at the most tokens."));
    why("text", f.stopped_text, Figure::counted("", "Texts that ended at a text of --stop."));
  });
  v("accuracy", f.accuracy,
    Figure::counted("", "Share of the sequences that equal their targets.", Unit::share, Better::more));
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
