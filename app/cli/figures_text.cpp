#include "app/cli/figures_text.h"
#include "app/cli/answers_text.h"
#include "app/cli/numbers_text.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/counted.h"
#include "core/summary/budget_text.h"
#include "core/summary/dense_text.h"
#include "core/summary/items_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/verdict_text.h"
#include "core/summary/weights_text.h"

namespace stormcell::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ratio_text(double value) { return number_text(value, 3) + "x"; }
std::string ratio_text(const std::optional<double>& value, const std::optional<std::array<double, 2>>& ci) {
  if (!value) return "-";
  return ratio_text(*value) + (ci ? " [" + number_text((*ci)[0], 3) + ", " + number_text((*ci)[1], 3) + "]" : "");
}
std::string rate_text(double value) { return value < 100 ? number_text(value) : count_text(std::llround(value)); }

std::string parameters_text(int64_t parameters) {
  const auto value = static_cast<double>(parameters);
  if (parameters >= 1000000000) return number_text(value / 1e9) + " billion parameters";
  return parameters >= 1000000 ? number_text(value / 1e6) + " million parameters" : counted(parameters, "parameter");
}

std::string data_text(const DatasetFigures& d) {
  return counted(d.batches, "batch") + " of " + items_text(d) + (d.by_length ? ", in batches of like length" : "") +
         (d.truncated > 0 ? ", " + counted(d.truncated, "sequence") + " truncated" : "");
}

/// In files: kernels lay weights out as they read them, and that takes more or less.
std::string stored_text(int64_t bytes) { return bytes_text(bytes) + " stored"; }

std::string subject_text(const ModelFigures& m, const DatasetFigures& d, const DeviceFigures& device) {
  Rows rows;
  rows.push_back({"model", m.name + ": " + m.family + ", " + parameters_text(m.parameters) + ", " + stored_text(m.weight_bytes) + ", " +
                               counted(m.routers, "router") + " with " + counted(m.branches, "branch") + ", " + weights_text(m)});
  rows.push_back({"data", d.name + ": " + data_text(d)});
  if (!d.note.empty()) rows.push_back({"", d.note});
  std::string machine =
      device.name + " (" + device.backend + (device.isa.empty() ? "" : ", " + device.isa) + "), " + counted(device.threads, "thread");
  if (!device.core_placement.empty()) machine += " on " + device.core_placement + ", not pinned";
  if (device.peak_gflops > 0)
    machine += "; measured limits " + number_text(device.peak_gflops) + " GFLOP/s, " + number_text(device.read_gbps) + " GB/s";
  rows.push_back({"device", machine});
  return table_text(rows, {});
}

void add_row(Rows& rows, const std::string& name, const RunSummaryFigures& f, std::string (*text)(const PlanFigures&)) {
  std::vector<std::string> row = {name};
  if (f.dense) row.push_back(text(*f.dense));
  if (f.baseline) row.push_back(text(*f.baseline));
  if (f.optimized) row.push_back(text(*f.optimized));
  rows.push_back(std::move(row));
}

/// An unverified plan's times beside the baseline's would be a speed-up in other words.
bool hides_optimized(const RunSummaryFigures& f) { return f.baseline && f.verified && !f.verified->passed; }

std::string plans_text(RunSummaryFigures f) {
  if (hides_optimized(f)) f.optimized.reset();
  if (!f.baseline && !f.optimized) return {};
  Rows rows = {{""}};
  if (f.dense) rows[0].push_back("dense");
  if (f.baseline) rows[0].push_back("baseline");
  if (f.optimized) rows[0].push_back(f.verified && !f.verified->passed ? "not verified" : "optimised");
  add_row(rows, "latency of a batch, mean", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.mean); });
  add_row(rows, "  median", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.median); });
  add_row(rows, "  95th percentile", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.p95); });
  add_row(rows, "  fastest", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.min); });
  add_row(rows, "  executions measured", f, [](const PlanFigures& p) { return count_text(p.latency_ms.runs); });
  add_row(rows, rate_name(f), f, [](const PlanFigures& p) { return rate_text(p.cells_per_s); });
  add_row(rows, "share of the physical limit", f, [](const PlanFigures& p) {
    // More than the ceilings allow: their memory is DRAM, and small data never leave the caches.
    return !p.limit_share ? std::string("-") : *p.limit_share > 1 ? "in cache" : share_text(*p.limit_share);
  });
  add_row(rows, f.weight_budget ? "weights in memory, at most" : "weights in memory", f,
          [](const PlanFigures& p) { return bytes_text(p.peak_weight_bytes); });
  add_row(rows, "activations in memory", f, [](const PlanFigures& p) { return bytes_text(p.peak_activation_bytes); });
  if ((f.baseline && f.baseline->states) || (f.optimized && f.optimized->states)) {
    add_row(rows, "  states of sequences in it", f,
            [](const PlanFigures& p) { return p.states ? bytes_text(p.states->planned_bytes) : "-"; });
    add_row(rows, "  of these taken at most", f, [](const PlanFigures& p) { return p.states ? bytes_text(p.states->taken_bytes) : "-"; });
  }
  std::string text = "\n" + table_text(rows, {1, 2, 3});
  if (const std::string dense = dense_text(f); !dense.empty()) text += dense + "\n";
  if (const std::string measured = measured_text(f); !measured.empty()) text += measured + "\n";
  if (const std::string padding = padding_text(f); !padding.empty()) text += padding + "\n";
  if ((f.baseline && f.baseline->limit_share > 1) || (f.optimized && f.optimized->limit_share > 1))
    text += "in cache: faster than the memory of the limit, because the data stay in the processor's caches\n";
  return text;
}

void add_flips(Rows& rows, const std::vector<Flip>& flips, const std::string& item) {
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(kShown, flips.size()); ++i) {
    const Flip& f = flips[i];
    const auto branch = [](int32_t b) { return b < 0 ? std::string("no branch") : "branch " + std::to_string(b); };
    rows.push_back({"", "  " + f.router + ", batch " + count_text(f.batch) +
                            (f.item < 0 ? ", cell " + count_text(f.cell)
                                        : ", cell " + count_text(f.position) + " of " + item + " " + count_text(f.item)) +
                            (f.turn < 0 ? "" : ", turn " + count_text(f.turn)) + ": " + branch(f.reference) + " became " + branch(f.ours) +
                            (f.follows ? ", a consequence"
                                       : ", margin " + number_text(f.margin, 2) + ", score error " + number_text(f.score_error, 2) +
                                             (f.explained ? ", a near tie" : ", no near tie"))});
  }
}

void add_speedup(Rows& rows, const RunSummaryFigures& f) {
  const auto add = [&](const std::string& text) { rows.push_back({"speed-up", text}); };
  const auto add_measured = [&](const std::string& verdict) {
    const auto& ci = f.speedup_ci95;
    add(ratio_text(*f.speedup) + (ci ? "  95 % interval " + number_text((*ci)[0]) + " to " + number_text((*ci)[1]) : "") + verdict);
    rows.push_back({"", speedup_basis_text(f)});
    rows.push_back({"", "the plan beside the baseline on the same batch, one right after the other"});
  };
  switch (speed_verdict(f)) {
    case SpeedVerdict::faster:
      return add_measured("");
    case SpeedVerdict::slower:
      return add_measured(": slower than the baseline");
    case SpeedVerdict::not_measurable:
      return add_measured(": nothing measurable was gained");
    case SpeedVerdict::none_stated:
      return add("none stated: see the warnings");
    case SpeedVerdict::nothing_applied:
      return add("no pass applied; nothing to compare");
    case SpeedVerdict::all_left_out:
      return add("nothing was gained: every pass that applied is left out again");
    case SpeedVerdict::not_verified:
      return add("none stated, because the result is not verified");
  }
}

std::string verdict_text(const RunSummaryFigures& f, bool verbose) {
  Rows rows;
  if (!f.verified) {
    rows.push_back({"verified", "not verified"});
  } else {
    const Verification& v = *f.verified;
    rows.push_back({"verified", std::string(v.passed ? "yes" : "NO") + "; largest difference " + number_text(v.max_rel_diff, 2) +
                                    " of the largest value (tolerance " + number_text(v.tolerance, 1) + ")"});
    rows.push_back({"", v.text});
    rows.push_back({"", flips_text(v) + (v.dropped > 0 ? "; the oracle dropped " + counted(v.dropped, "cell") + " for capacity" : "")});
    for (const std::string& reason : v.reasons) rows.push_back({"", reason_text(reason)});
    if (const auto& format = v.format) {
      rows.push_back({format->dtype + " costs", number_text(format->max_rel_diff, 2) +
                                                    " of the largest value with the routing choices of the stored weights (--tolerance " +
                                                    number_text(format->tolerance, 1) + ")"});
      if (const std::string freely = free_cost_text(*format); !freely.empty()) rows.push_back({"", freely});
    }
    for (const OutputDifference& o : v.outputs)
      if (verbose) rows.push_back({"", "  " + o.name + ": " + number_text(o.max_rel_diff, 2) + " of its largest value"});
  }
  if (verbose && f.verified) add_flips(rows, f.verified->listed, item_noun(f.dataset));
  if (run_kind(f.verb) == RunKind::optimize) add_speedup(rows, f);
  return "\n" + table_text(rows, {});
}

std::string passes_text(const RunSummaryFigures& f) {
  const std::vector<PassReport>& passes = f.passes;
  if (passes.empty()) return {};
  Rows rows = {{"pass", "", "alone", "its own", "up to here", "guard misses", ""}};
  for (const PassReport& p : passes)
    rows.push_back({p.name,
                    p.applied    ? "applied"
                    : p.left_out ? "left out"
                                 : "not applied",
                    ratio_text(p.speedup_alone, p.speedup_alone_ci95), ratio_text(p.speedup_own, p.speedup_own_ci95),
                    ratio_text(p.speedup_cumulative, p.speedup_cumulative_ci95),
                    p.guard_hits + p.fallbacks > 0 ? count_text(p.fallbacks) + " of " + count_text(p.guard_hits + p.fallbacks) : "-",
                    p.reason});
  // A run of a configuration measures no pass on its own: columns that say nothing go.
  std::vector<size_t> right;
  for (size_t column = rows[0].size() - 2; column >= 2; --column) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] == "-"; });
    for (auto& row : rows)
      if (empty) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  for (size_t column = 2; column + 1 < rows[0].size(); ++column) right.push_back(column);
  const bool guarded = std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.guard_hits + p.fallbacks > 0; });
  const bool owned = std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.speedup_own.has_value(); });
  return "\n" + table_text(rows, right) +
         (owned ? "its own: the plan with the pass and those above it against the plan without it\n" : "") +
         (guarded ? "guard misses: over all batches, each guard counted " + guards_counted(f.phase) + "\n" : "");
}

std::string routing_text(const std::vector<RouterFigures>& routing) {
  if (routing.empty()) return {};
  const bool labels = std::any_of(routing.begin(), routing.end(), [](const RouterFigures& r) { return r.label_information.has_value(); });
  Rows rows = {{"router", "branches", "without load", "imbalance", "entropy", "dropped"}};
  if (labels) rows[0].push_back("shared with label");
  for (const RouterFigures& r : routing) {
    rows.push_back({r.router, count_text(r.branches), count_text(std::count(r.load_real.begin(), r.load_real.end(), 0)),
                    number_text(r.imbalance_real), number_text(r.entropy_real) + " bit", count_text(r.dropped)});
    if (labels) rows.back().push_back(r.label_information ? number_text(*r.label_information) + " bit" : "-");
  }
  return "\n" + table_text(rows, {1, 2, 3, 4, 5, 6}) +
         "imbalance: largest load / mean load - 1; padding left out in all columns but dropped\n";
}

std::string overhead_text(const RunSummaryFigures& f) {
  if (!f.record_overhead) return "not measured";
  if (!f.record_overhead_ci95) return share_text(*f.record_overhead) + " of the run";
  const auto& [low, high] = *f.record_overhead_ci95;
  if (low <= 0) return "not measurable (under " + number_text(100 * std::max(high, 0.001), 2) + " % of the run)";
  return share_text(*f.record_overhead) + " of the run, 95 % interval " + number_text(100 * low) + " to " + number_text(100 * high) + " %";
}

template <class Figures>
void add_budget(Rows& rows, const Figures& f) {
  if (!f.weight_budget) return;
  for (BudgetLine& line : budget_lines(*f.weight_budget, reading_plans(f))) rows.push_back({std::move(line.name), std::move(line.text)});
}

std::string operators_text(const std::string& title, const std::vector<OperatorTime>& operators) {
  if (operators.empty()) return {};
  Rows rows = {{title, "ms a batch", "limit", "steps a batch"}};
  for (const OperatorTime& o : operators)
    rows.push_back({o.op, number_text(o.milliseconds),
                    o.in_cache()               ? "in cache"
                    : o.limit_milliseconds > 0 ? number_text(o.limit_milliseconds)
                                               : "-",
                    o.batches > 0 ? number_text(static_cast<double>(o.steps) / static_cast<double>(o.batches)) : "-"});
  return "\n" + table_text(rows, {1, 2, 3}) + "means of " + counted(operators.front().batches, "recorded batch") +
         "; the limit counts memory, which data in a cache do not need\n";
}

/// Which of two phases figures are of stands above them, and always above those of decoding.
enum class PhaseTitle : uint8_t { of_decoding, of_both };

/// All that was found in one phase.
std::string phase_text(const RunSummaryFigures& f, bool verbose, PhaseTitle title) {
  const bool decodes = work_phase(f.phase) == WorkPhase::decode;
  std::string text = decodes || title == PhaseTitle::of_both ? "\n" + phase_title(f.phase) + "\n" : "";
  text += plans_text(f) + verdict_text(f, verbose) + answers_text(f, verbose) + passes_text(f);
  if (verbose || run_kind(f.verb) == RunKind::profile) text += routing_text(f.routing);
  if (verbose)
    text += operators_text("baseline operators", f.baseline_operators) +
            (hides_optimized(f) ? "" : operators_text("optimised operators", f.optimized_operators));
  Rows rows;
  if (run_kind(f.verb) == RunKind::profile) {
    rows.push_back({"recorded", counted(f.decisions, "decision") + " in " + counted(f.windows, "window")});
    rows.push_back({"cost of recording", overhead_text(f)});
    if (f.record_work) rows.push_back({"  its own work", share_text(*f.record_work) + " of the run"});
  }
  for (size_t i = 0; i < f.annotated.size(); ++i) rows.push_back({i == 0 ? "annotated" : "", f.annotated[i]});
  add_budget(rows, f);
  if (f.unloaded_weight_bytes > 0) rows.push_back({"not needed", bytes_text(f.unloaded_weight_bytes) + " of weights"});
  if (!f.session.empty()) rows.push_back({"session", f.session + (f.session_run > 0 ? "#" + std::to_string(f.session_run) : "")});
  return rows.empty() ? text : text + "\n" + table_text(rows, {});
}

}  // namespace

std::string phase_title(std::string_view phase) { return work_phase(phase) == WorkPhase::decode ? "decoding" : "forward"; }

std::string to_text_of_first(const RunSummaryFigures& f, bool verbose) {
  return subject_text(f.model, f.dataset, f.device) + phase_text(f, verbose, PhaseTitle::of_both);
}
std::string to_text_of_second(const RunSummaryFigures& f, bool verbose) { return phase_text(f, verbose, PhaseTitle::of_both); }

std::string to_text(const RunSummaryFigures& f, bool verbose) {
  if (f.decode) return to_text_of_first(f, verbose) + to_text_of_second(*f.decode, verbose);
  return subject_text(f.model, f.dataset, f.device) + phase_text(f, verbose, PhaseTitle::of_decoding);
}

std::string to_text(const GenerateFigures& f, bool verbose) {
  constexpr size_t kShown = 8;
  std::string text = subject_text(f.model, f.dataset, f.device) + "\n";
  Rows rows;
  rows.push_back({"generated", counted(f.tokens, "token") + " for " + counted(f.sequences, "sequence") + "; " + count_text(f.stopped_eos) +
                                   " ended by themselves, " + count_text(f.stopped_length) + " at the limit"});
  rows.push_back({"tokens a second", rate_text(f.tokens_per_s) + " (every batch once)"});
  rows.push_back({"latency of a batch", "mean " + milliseconds_text(f.latency_ms.mean) + ", median " +
                                            milliseconds_text(f.latency_ms.median) + ", 95th percentile " +
                                            milliseconds_text(f.latency_ms.p95) + ", fastest " + milliseconds_text(f.latency_ms.min) +
                                            ", " + counted(f.latency_ms.runs, "batch")});
  rows.push_back(
      {"exact", f.accuracy ? share_text(*f.accuracy) + " of the sequences equal their target" : "not known: the data has no targets"});
  rows.push_back({"verified", f.verified ? (f.verified->passed ? "yes: " : "NO: ") + f.verified->text : "not verified"});
  if (f.verified)
    for (const std::string& reason : f.verified->reasons) rows.push_back({"", reason_text(reason)});
  if (f.states)
    rows.push_back({"states of sequences", bytes_text(f.states->taken_bytes) + " in " + counted(f.states->taken_pages, "page") +
                                               " at most, of " + bytes_text(f.states->planned_bytes) + " planned"});
  add_budget(rows, f);
  if (!f.session.empty()) rows.push_back({"session", f.session + (f.session_run > 0 ? "#" + std::to_string(f.session_run) : "")});
  text += table_text(rows, {});
  if (verbose) text += routing_text(f.routing);
  const size_t shown = verbose ? f.texts.size() : std::min(kShown, f.texts.size());
  if (shown > 0) text += "\n";
  for (size_t i = 0; i < shown; ++i) text += "  " + f.texts[i] + "\n";
  if (shown < f.texts.size()) text += "  ... " + count_text(static_cast<int64_t>(f.texts.size() - shown)) + " more (--json has all)\n";
  return text;
}

std::string to_text(const SessionRuns& list) {
  std::string text = list.file + ": " + bytes_text(list.bytes) + ", begun " + list.created + " by Stormcell " + list.program + ", schema " +
                     std::to_string(list.schema) + (list.checked ? "; all of it was read: no damage" : "") + "\n";
  text += "model  " + list.model + (list.family.empty() ? "" : ", " + list.family) +
          (list.parameters > 0 ? ", " + parameters_text(list.parameters) + ", " + stored_text(list.weight_bytes) : "") +
          (list.weights.empty() ? "" : ", " + weights_text(list.weights, list.weights_stated)) +
          (list.fingerprint.empty() ? "" : ", fingerprint " + list.fingerprint.substr(0, 12)) + "\n\n";
  Rows rows = {{"run", "kind", "", "batches", "began", "baseline", "optimised", "speed-up", "verified", "passes"}}, about;
  const auto given = [](const std::optional<double>& ms) { return ms ? milliseconds_text(*ms) : std::string("-"); };
  for (const SessionRunLine& run : list.runs) {
    const std::string number = "#" + std::to_string(run.id);
    rows.push_back({number, run.kind + (says_decoding(run.phase, run.kind) ? ", decode" : "") + (run.name.empty() ? "" : " " + run.name),
                    run.status, count_text(run.batches), run.started, given(run.baseline_ms), given(run.optimized_ms),
                    ratio_text(run.speedup, run.speedup_ci95),
                    !run.verified   ? "-"
                    : *run.verified ? "yes"
                                    : "NO",
                    !run.passes.empty() ? joined(run.passes)
                    : run.figures       ? ""
                                        : "recording"});
    std::string on = (run.data.empty() ? std::string("data not known") : run.data) + ", " +
                     (run.sizes.empty() ? counted(run.sequences, "sequence") : run.items);
    if (!run.machine.empty()) on += "; " + run.machine + (run.threads > 0 ? ", " + counted(run.threads, "thread") : "");
    if (run.weight_budget > 0) on += "; " + budget_word(run.weight_budget);
    about.push_back({number, on});
    if (!run.annotations.empty()) about.push_back({"", "annotated " + joined(run.annotations)});
    about.push_back({"", "keeps " + (run.keeps.empty() ? std::string("nothing but its figures") : joined(run.keeps))});
  }
  if (list.runs.empty()) return text + "no runs\n";
  text += table_text(rows, {3, 5, 6, 7}) + "\n" + table_text(about, {});
  if (list.placements.empty()) return text;
  Rows placements = {{"placement", "name", "solver", "of run", "made"}};
  for (const PlacementLine& p : list.placements)
    placements.push_back({"#" + std::to_string(p.id), p.name, p.solver, "#" + std::to_string(p.run), p.created});
  return text + "\n" + table_text(placements, {});
}

namespace {

/// What of a plan the device runs without the host; the tree itself is long, and goes where --segments says.
std::string plan_text(const PlanStructure& p) {
  std::string text = "\nplan of one " + std::string(p.phase == "decode" ? "decoding" : "forward pass");
  if (p.weight_budget > 0) text += " with " + bytes_text(p.weight_budget) + " for the weights of branches";
  text += ": " + counted(p.steps, "step") + ", ";
  if (p.ends == 0) return text + "resident on the device: it runs without the host\n";
  return text + counted(p.leaves, "segment") + "; a submission may end with " + count_text(p.ends) + " of them\n";
}

}  // namespace

std::string to_text(const ModelStructure& s, bool verbose) {
  std::string text = s.name + ": " + s.family + ", " + parameters_text(s.parameters) + ", " + stored_text(s.weight_bytes) + ", " +
                     number_text(s.flops_per_cell / 1e6) + " MFLOP a cell where all branches get as many\n";
  if (s.least_budget > 0)
    text += "weights of branches as they are laid out: " + bytes_text(s.expert_bytes) + ", the largest of them " +
            bytes_text(s.least_budget) + "; --weight-budget from " + std::to_string(s.least_budget) + " bytes on\n";
  if (s.picture) {
    const PictureStructure& p = *s.picture;
    text += "pictures of " + std::to_string(p.height) + " x " + std::to_string(p.width) + " pixels, " + counted(p.channels, "channel");
    if (p.least > 0) text += "; other heights and widths of " + count_text(p.least) + " to " + std::to_string(p.most) + " too";
    text += "\n";
    for (const GridStructure& g : s.grids)
      text += "each is cut into " + count_text(g.rows) + " rows of " + count_text(g.columns) + " cells (" + g.cell_space + "), " +
              count_text(g.patch_height) + " x " + count_text(g.patch_width) + " pixels, " + count_text(g.stride) + " apart\n";
  }
  Rows inputs;
  for (const InputStructure& i : s.inputs) {
    std::string content;
    for (const int64_t extent : i.content) content += ", " + std::to_string(extent);
    inputs.push_back({i.name, i.role == i.name ? "" : "the " + i.role, "[" + i.cell_space + content + "]"});
  }
  if (!inputs.empty()) text += "\nthe data bring\n" + table_text(inputs, {});
  if (!s.routers.empty()) {
    Rows rows = {{"router", "branches", "protocol", "cells of", "hoistable", "mixes until the next router"}};
    for (const RouterStructure& r : s.routers) {
      std::string mixes;
      for (const std::string& m : r.mixes) add_to_list(mixes, m, "; ");
      rows.push_back({r.name, count_text(r.branches), r.protocol, r.cell_space,
                      r.hoistable_bytes > 0 || r.hoistable_flops > 0
                          ? bytes_text(static_cast<int64_t>(r.hoistable_bytes)) + ", " + number_text(r.hoistable_flops / 1e6) + " MFLOP"
                          : "nothing",
                      mixes.empty() ? "nothing" : mixes});
    }
    text += "\n" + table_text(rows, {1});
    for (const RouterStructure& r : s.routers) {
      if (!verbose) break;
      text += "\non " + r.name + " depend\n";
      for (const std::string& d : r.depends) text += "  " + d + "\n";
    }
  }
  Rows operators;
  const auto kernels_of = [&](const std::string& op) {
    for (const KernelsOfOperator& k : s.kernels)
      if (k.op == op) return joined(k.names);
    return std::string();
  };
  for (const auto& [name, count] : s.operators) operators.push_back({name, count_text(count), kernels_of(name)});
  if (!operators.empty())
    text += "\noperators, and their kernels, the first that can is taken (--annotate NODE.kernel=KERNEL)\n" + table_text(operators, {1});
  if (!s.annotations.empty()) text += "\nannotations\n";
  for (const std::string& a : s.annotations) text += "  " + a + "\n";
  if (s.plan) text += plan_text(*s.plan);
  for (const std::string& u : s.unsupported) text += "not in this version: " + u + "\n";
  return text;
}

}  // namespace stormcell::cli
