#include "app/cli/figures_text.h"

#include <algorithm>
#include <array>

#include "app/cli/answers_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/proof_text.h"
#include "app/cli/run_words.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/budget_text.h"
#include "core/summary/dense_text.h"
#include "core/summary/items_text.h"
#include "core/summary/limit_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/stated_speedups.h"
#include "core/summary/time_text.h"

namespace stormcell::cli {
namespace {

void add_row(Rows& rows, const std::string& name, const RunSummaryFigures& f, std::string (*text)(const PlanFigures&)) {
  std::vector<std::string> row = {name};
  if (f.baseline) row.push_back(text(*f.baseline));
  if (f.optimized) row.push_back(text(*f.optimized));
  rows.push_back(std::move(row));
}
/// A row of times, rates or shares of them, with a remark if they must not be divided.
void add_timed_row(Rows& rows, const std::string& name, const RunSummaryFigures& f,
                   std::string (*text)(const PlanFigures&)) {
  add_row(rows, name, f, text);
  if (const std::string remark = no_ratio_text(f); !remark.empty()) rows.back().push_back(remark);
}

/// An unverified plan's times beside the baseline's would be a speed-up in other words.
bool hides_optimized(const RunSummaryFigures& f) { return f.baseline && f.verified && !f.verified->passed; }

std::string plans_text(RunSummaryFigures f) {
  if (hides_optimized(f)) f.optimized.reset();
  if (!f.baseline && !f.optimized) return {};
  Rows rows = {{""}};
  if (f.baseline) rows[0].push_back("baseline");
  if (f.optimized) rows[0].push_back(f.verified && !f.verified->passed ? "not verified" : "optimised");
  add_timed_row(rows, "latency of a batch, mean", f,
                [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.mean); });
  add_timed_row(rows, "  median", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.median); });
  add_timed_row(rows, "  95th percentile", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.p95); });
  add_timed_row(rows, "  fastest", f, [](const PlanFigures& p) { return milliseconds_text(p.latency_ms.min); });
  add_row(rows, "  executions measured", f, [](const PlanFigures& p) { return count_text(p.latency_ms.runs); });
  add_timed_row(rows, rate_name(f), f, [](const PlanFigures& p) { return rate_text(p.cells_per_s); });
  add_timed_row(rows, "share of the physical limit", f, [](const PlanFigures& p) {
    return !p.limit_share ? std::string("-") : is_in_cache(*p.limit_share) ? kInCache : share_text(*p.limit_share);
  });
  add_row(rows, f.weight_budget ? "weights in memory, at most" : "weights in memory", f,
          [](const PlanFigures& p) { return bytes_text(p.peak_weight_bytes); });
  add_row(rows, "activations in memory", f, [](const PlanFigures& p) { return bytes_text(p.peak_activation_bytes); });
  if ((f.baseline && f.baseline->states) || (f.optimized && f.optimized->states)) {
    add_row(rows, "  states of sequences in it", f,
            [](const PlanFigures& p) { return p.states ? bytes_text(p.states->planned_bytes) : "-"; });
    add_row(rows, "  of these taken at most", f,
            [](const PlanFigures& p) { return p.states ? bytes_text(p.states->taken_bytes) : "-"; });
  }
  std::string text = "\n" + table_text(rows, {1, 2});
  if (const std::string dense = dense_text(f); !dense.empty()) text += dense + "\n";
  if (const std::string measured = measured_text(f); !measured.empty()) text += measured + "\n";
  if (const std::string padding = padding_text(f); !padding.empty()) text += padding + "\n";
  const auto cached = [](const std::optional<PlanFigures>& p) {
    return p && p->limit_share && is_in_cache(*p->limit_share);
  };
  if (cached(f.baseline) || cached(f.optimized)) text += std::string(kInCache) + ": " + kInCacheReason + "\n";
  return text;
}

std::string gain_text(const PassReport& p, const std::optional<double>& value,
                      const std::optional<std::array<double, 2>>& ci95) {
  return !value && p.withheld ? "withheld" : ratio_text(value, ci95);
}

/// The line below the table that says why the first pass without speed-ups has none.
std::string withheld_text(const std::vector<PassReport>& passes) {
  const auto first =
      std::find_if(passes.begin(), passes.end(), [](const PassReport& p) { return p.withheld.has_value(); });
  return first == passes.end() ? std::string() : "withheld: " + not_measured_text(*first->withheld) + "\n";
}

std::string passes_text(const RunSummaryFigures& f) {
  const std::vector<PassReport>& passes = f.passes;
  if (passes.empty()) return {};
  Rows rows = {{"pass", "", "alone", "its own", "up to here", "guard misses", ""}};
  for (const PassReport& p : passes)
    rows.push_back(
        {pass_name(p.name),
         p.applied    ? "applied"
         : p.left_out ? "left out"
                      : "not applied",
         gain_text(p, p.speedup_alone, p.speedup_alone_ci95), gain_text(p, p.speedup_own, p.speedup_own_ci95),
         gain_text(p, p.speedup_cumulative, p.speedup_cumulative_ci95),
         p.guard_hits + p.fallbacks > 0 ? count_text(p.fallbacks) + " of " + count_text(p.guard_hits + p.fallbacks)
                                        : "-",
         p.reason});
  // A run of a configuration measures no pass on its own: empty columns are dropped.
  std::vector<size_t> right;
  for (size_t column = rows[0].size() - 2; column >= 2; --column) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] == "-"; });
    for (auto& row : rows)
      if (empty) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  for (size_t column = 2; column + 1 < rows[0].size(); ++column) right.push_back(column);
  const bool guarded =
      std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.guard_hits + p.fallbacks > 0; });
  const bool owned =
      std::any_of(passes.begin(), passes.end(), [](const PassReport& p) { return p.speedup_own.has_value(); });
  return "\n" + table_text(rows, right) + withheld_text(passes) +
         (owned ? "its own: the plan with the pass and those above it against the plan without it\n" : "") +
         (guarded ? "guard misses: over all batches, each guard counted " + guards_counted(f.phase) + "\n" : "");
}

std::string operators_text(const std::string& title, const std::vector<OperatorTime>& operators) {
  if (operators.empty()) return {};
  Rows rows = {{title, "ms a batch", "limit", "steps a batch"}};
  for (const OperatorTime& o : operators)
    rows.push_back({o.op, number_text(o.milliseconds),
                    o.in_cache()               ? kInCache
                    : o.limit_milliseconds > 0 ? number_text(o.limit_milliseconds)
                                               : "-",
                    o.batches > 0 ? number_text(static_cast<double>(o.steps) / static_cast<double>(o.batches)) : "-"});
  return "\n" + table_text(rows, {1, 2, 3}) + "means of " + counted(operators.front().batches, "recorded batch") +
         "; the limit counts memory, which data in a cache do not need\n";
}

/// With two phases, the title names the phase, and it always does for decoding.
enum class PhaseTitle : uint8_t { of_decoding, of_both };

/// All that was found in one phase.
std::string phase_text(const RunSummaryFigures& f, bool verbose, PhaseTitle title) {
  const bool decodes = work_phase(f.phase) == WorkPhase::decode;
  std::string text = decodes || title == PhaseTitle::of_both ? "\n" + phase_title(f.phase) + "\n" : "";
  text += plans_text(f) + proof_text(f, verbose) + answers_text(f, verbose) + passes_text(f);
  if (verbose || run_kind(f.verb) == RunKind::profile) text += routing_text(f.routing);
  if (verbose)
    text += operators_text("baseline operators", f.baseline_operators) +
            (hides_optimized(f) ? "" : operators_text("optimised operators", f.optimized_operators)) +
            (no_ratio_text(f).empty() ? "" : "times of both plans have " + no_ratio_text(f) + "\n");
  Rows rows;
  if (run_kind(f.verb) == RunKind::profile) {
    rows.push_back({"recorded", counted(f.decisions, "decision") + " in " + counted(f.windows, "window")});
    rows.push_back({"cost of recording", overhead_text(f)});
    if (f.record_work) rows.push_back({"  its own work", share_text(*f.record_work) + " of the run"});
  }
  for (size_t i = 0; i < f.annotated.size(); ++i) rows.push_back({i == 0 ? "annotated" : "", f.annotated[i]});
  add_budget(rows, f.weight_budget, reading_plans(f));
  if (const std::string took = time_taken_words(f); !took.empty()) rows.push_back({"time", took});
  if (f.unloaded_weight_bytes > 0) rows.push_back({"not needed", bytes_text(f.unloaded_weight_bytes) + " of weights"});
  add_session(rows, f.session, f.session_run);
  return rows.empty() ? text : text + "\n" + table_text(rows, {});
}

}  // namespace

std::string phase_title(std::string_view phase) {
  return work_phase(phase) == WorkPhase::decode ? "decoding" : "forward";
}

Page page_of_first(const RunSummaryFigures& f, bool verbose) {
  return {run_conclusions(f), subject_text(f.model, f.dataset, f.device) + phase_text(f, verbose, PhaseTitle::of_both)};
}
Page page_of_second(const RunSummaryFigures& f, bool verbose) {
  return {run_conclusions(f), phase_text(f, verbose, PhaseTitle::of_both)};
}

Page page_of(const RunSummaryFigures& f, bool verbose) {
  if (!f.decode)
    return {run_conclusions(f),
            subject_text(f.model, f.dataset, f.device) + phase_text(f, verbose, PhaseTitle::of_decoding)};
  Page both = page_of_first(f, verbose);
  both.details += phase_text(*f.decode, verbose, PhaseTitle::of_both);
  return both;
}

}  // namespace stormcell::cli
