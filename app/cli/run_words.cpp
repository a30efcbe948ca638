#include "app/cli/run_words.h"

#include <algorithm>
#include <cmath>

#include "app/cli/numbers_text.h"
#include "app/cli/page.h"
#include "core/base/counted.h"
#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/item_costs_text.h"
#include "core/summary/items_text.h"
#include "core/summary/quality_text.h"
#include "core/summary/settings.h"
#include "core/summary/stated_speedups.h"
#include "core/summary/verdict_text.h"

namespace stormcell::cli {
namespace {

std::string time_sentence(const RunSummaryFigures& f) {
  const bool hidden = f.baseline && f.verified && !f.verified->passed;
  const std::optional<PlanFigures>& plan = f.optimized && !hidden ? f.optimized : f.baseline;
  if (!plan) return {};
  return short_name(f.model) + " takes " + milliseconds_text(plan->latency_ms.mean) + " for a batch on average, " +
         rate_text(plan->cells_per_s) + " " + rate_name(f) + ".";
}

std::string speed_words(const RunSummaryFigures& f) {
  const SpeedVerdict verdict = speed_verdict(f);
  const bool of_target = f.exit_target && f.is_verified();
  if (of_target) return sentence_of(over_model_sentence(*f.exit_target));
  if (verdict == SpeedVerdict::withheld)
    return "The result is the same, but the speed-up was " + not_measured_text(*f.withheld) + ".";
  if (verdict != SpeedVerdict::faster) return std::string(speed_sentence(verdict));
  return short_name(f.model) + " runs " + number_text(*f.speedup) + " times as fast (95 % interval " +
         number_text((*f.speedup_ci95)[0]) + " to " + number_text((*f.speedup_ci95)[1]) + "), with the same result.";
}

std::string proof_sentence(const std::optional<Verification>& v) {
  if (!v) return "The run was not verified: nothing was compared with the oracle.";
  if (!v->passed)
    return "The run could not be verified: " +
           (v->reasons.empty() ? std::string("the results differ") : v->reasons[0]) + ".";
  return "The result is verified: " + v->text + ", and the largest difference is " + number_text(v->max_rel_diff, 2) +
         " of the largest value.";
}

std::string passes_sentence(const RunSummaryFigures& f) {
  std::vector<std::string> used, left_out, wrong;
  for (const PassReport& p : f.passes) {
    if (p.applied) used.push_back(pass_name(p.name));
    if (p.left_out) (p.differs.empty() ? left_out : wrong).push_back(pass_name(p.name));
  }
  const std::string unequal =
      wrong.empty() ? std::string()
                    : "It leaves out " + joined_with_and(wrong) + ", because the plan would not be equal to the model.";
  if (used.empty()) return unequal;
  return "The plan uses " + joined_with_and(used) +
         (left_out.empty() ? "."
                           : "; it leaves out " + joined_with_and(left_out) + ", of which no gain was measured.") +
         (unequal.empty() ? "" : " " + unequal);
}

std::string answers_sentence(const RunSummaryFigures& f) {
  if (f.quality) {
    const QualityFigures& q = *f.quality;
    if (const std::string change = quality_change_text(q); f.is_verified() && !change.empty())
      return sentence_of(change);
    const std::optional<PlanQuality>& plan = q.optimized && f.is_verified() ? q.optimized : q.baseline;
    if (plan) return "The " + q.measure + " is " + quality_sentence(q, *plan) + ".";
  }
  return {};
}

std::string costs_sentence(const RunSummaryFigures& f) {
  if (!f.is_verified() || f.exit_target) return {};
  // Begins with the name of the model, which keeps its spelling.
  const std::string words = f.exits ? exits_headline(f) : item_costs_headline(f);
  return words.empty() ? words : words + ".";
}

/// The words of the same model and data for another verb; empty: an older summary lacks them.
std::vector<std::string> words_for(const std::string& verb, const RunSummaryFigures& f) {
  std::optional<ExperimentOptions> options = parse_settings(f.settings);
  if (!options) return {};
  // A run stores what it took for these; here each has its default again. A number format is repeated only if the
  // weights were converted to it: nobody measured another one.
  options->batch = 0, options->threads = 0;
  if (!f.verified || !f.verified->format) options->dtype.clear();
  std::vector<std::string> words = command_words(*options, verb);
  words.insert(words.begin(), verb);
  return words;
}

std::string next_of(const RunSummaryFigures& f) {
  if (f.verified && !f.verified->passed) return {};
  const RunKind kind = run_kind(f.verb);
  const std::string run = f.session + "#" + std::to_string(f.session_run);
  if (!f.session.empty())
    return kind == RunKind::profile ? next_command({"analyze", run})
                                    : next_command({"report", run, "-o", "report.html"});
  if (kind == RunKind::optimize) return {};
  std::vector<std::string> words = words_for(kind == RunKind::run ? "optimize" : "profile", f);
  if (words.empty()) return {};
  if (kind == RunKind::profile) words.insert(words.end(), {"-o", "S.storm"});
  return next_command(words);
}

}  // namespace

std::string overhead_text(const RunSummaryFigures& f) {
  if (!f.record_overhead) return "not measured";
  if (!f.record_overhead_ci95) return share_text(*f.record_overhead) + " of the run";
  const auto& [low, high] = *f.record_overhead_ci95;
  if (low <= 0) return "not measurable (under " + number_text(100 * std::max(high, 0.001), 2) + " % of the run)";
  return share_text(*f.record_overhead) + " of the run, 95 % interval " + number_text(100 * low) + " to " +
         number_text(100 * high) + " %";
}

std::vector<std::string> run_conclusions(const RunSummaryFigures& f) {
  const RunKind kind = run_kind(f.verb);
  const std::string first = kind == RunKind::optimize ? speed_words(f) : time_sentence(f);
  std::string middle = answers_sentence(f);
  if (middle.empty()) middle = costs_sentence(f);
  const std::string recorded =
      "It recorded " + counted(f.decisions, "decision") + "; the cost of recording is " + overhead_text(f) + ".";
  return {first, proof_sentence(f.verified), kind == RunKind::profile ? recorded : passes_sentence(f), middle,
          next_of(f)};
}

std::vector<std::string> generation_conclusions(const GenerateFigures& f) {
  const std::string exact =
      f.accuracy ? share_text(*f.accuracy) + " of the sequences equal their target." : std::string();
  const std::string run = f.session + "#" + std::to_string(f.session_run);
  return {short_name(f.model) + " generated " + counted(f.tokens, "token") + " for " +
              counted(f.sequences, "sequence") + ", " + rate_text(f.tokens_per_s) + " a second.",
          !f.verified          ? "The tokens were not verified: nothing was compared with the oracle."
          : f.verified->passed ? "The tokens are verified: " + f.verified->text + "."
                               : "The tokens could not be verified.",
          exact, f.session.empty() ? std::string() : next_command({"report", run, "-o", "report.html"})};
}

}  // namespace stormcell::cli
