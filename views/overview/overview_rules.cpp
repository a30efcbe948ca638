#include "views/overview/overview_rules.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/run_kind.h"
#include "core/summary/measured_text.h"
#include "core/summary/stated_speedups.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

bool has_result(const Situation& s) { return s.summary.has_value(); }
bool running(const Situation& s) { return s.facts.line.status == RunStatus::running; }

std::optional<RouterSummary> most_uneven(const Situation& s) {
  auto rows = routers_of(s);
  std::erase_if(rows, [](const RouterSummary& r) { return r.within_chance(); });
  const auto at = std::max_element(rows.begin(), rows.end(),
                                   [](const auto& a, const auto& b) { return a.imbalance < b.imbalance; });
  return at == rows.end() || at->branches < 2 ? std::nullopt : std::optional(*at);
}

qint64 dropped(const Situation& s) {
  qint64 sum = 0;
  for (const RouterSummary& r : routers_of(s)) sum += r.dropped;
  return sum;
}

/// The heatmap has something to show: the session itself counted loads.
bool has_loads(const Situation& s) {
  return std::any_of(s.facts.routers.begin(), s.facts.routers.end(), [](const auto& row) {
    return std::any_of(row.load.begin(), row.load.end(), [](int64_t l) { return l > 0; });
  });
}

qint64 fallbacks(const Situation& s) {
  qint64 sum = 0;
  if (s.summary)
    for (const PassReport& p : s.summary->figures.passes) sum += p.fallbacks;
  return sum;
}

std::optional<SpeedupWithheld> withheld(const Situation& s) {
  return s.summary ? first_withheld(s.summary->figures) : std::nullopt;
}

/// True if more time is all that is missing: the machine was quiet.
bool is_few(const SpeedupWithheld& w) {
  return w.reason == WithheldReason::few_pairs || w.reason == WithheldReason::few_batches;
}

constexpr StepRule kRules[] = {
    {"going-on", [](const Situation& s) { return running(s); },
     [](const Situation&) {
       return tr("This run is still going on: its batches are counted here, its figures come when it ends.");
     },
     QT_TRANSLATE_NOOP("Views", "Look again"), "reload"},
    {"result-elsewhere", [](const Situation& s) { return !has_result(s) && s.facts.newest_result > 0; },
     [](const Situation& s) {
       return tr("Only the recording is in this run. Its session has figures: the newest are those of run #%1.")
           .arg(s.facts.newest_result);
     },
     QT_TRANSLATE_NOOP("Views", "Go to the newest figures"), "show-result"},
    {"no-result",
     [](const Situation& s) {
       return !has_result(s) && !running(s) && s.facts.newest_result == 0 &&
              run_kind(s.facts.line.kind) != RunKind::import;
     },
     [](const Situation&) {
       return tr("Nothing was measured or verified in this run. An optimisation measures, verifies and explains.");
     },
     QT_TRANSLATE_NOOP("Views", "Run the demo"), "run-demo"},
    {"not-verified",
     [](const Situation& s) {
       return has_result(s) && s.summary->figures.verified && !s.summary->figures.verified->passed;
     },
     [](const Situation& s) {
       const Verification& proof = *s.summary->figures.verified;
       const QString why = proof.reasons.empty()
                               ? tr("the outputs differ by %1 of the largest value, the tolerance is %2")
                                     .arg(number_text(proof.max_rel_diff), number_text(proof.tolerance))
                               : to_qstring(proof.reasons[0]);
       return tr("Do not use this configuration: %1. The table says which passes applied.").arg(why);
     },
     QT_TRANSLATE_NOOP("Views", "Show the table"), "table"},
    {"not-compared",
     [](const Situation& s) {
       return has_result(s) && !s.summary->figures.verified && run_kind(s.summary->figures.verb) != RunKind::generate &&
              run_kind(s.summary->figures.verb) != RunKind::profile && s.repeatable;
     },
     [](const Situation&) {
       return tr("Nothing was compared with the reference, so nothing is known about its correctness.");
     },
     QT_TRANSLATE_NOOP("Views", "Run again, verified"), "run-again"},
    {"few-measured", [](const Situation& s) { return s.repeatable && withheld(s) && is_few(*withheld(s)); },
     [](const Situation& s) {
       return tr("The speed-up was %1. Measured again, it takes four times as long.")
           .arg(to_qstring(not_measured_text(*withheld(s))));
     },
     QT_TRANSLATE_NOOP("Views", "Measure again"), "measure-longer"},
    {"disturbed", [](const Situation& s) { return s.repeatable && withheld(s) && !is_few(*withheld(s)); },
     [](const Situation& s) {
       return tr("The speed-up was %1. Measure it again when the machine is quiet.")
           .arg(to_qstring(not_measured_text(*withheld(s))));
     },
     QT_TRANSLATE_NOOP("Views", "Measure again"), "run-again"},
    {"interval-holds-1",
     [](const Situation& s) {
       return has_result(s) && s.repeatable && s.summary->figures.speedup_ci95 &&
              (*s.summary->figures.speedup_ci95)[0] <= 1 && (*s.summary->figures.speedup_ci95)[1] >= 1;
     },
     [](const Situation& s) {
       return tr("The 95 % interval of the speed-up, %1 to %2, contains 1: a gain cannot be told from noise yet.")
           .arg(times_text((*s.summary->figures.speedup_ci95)[0]), times_text((*s.summary->figures.speedup_ci95)[1]));
     },
     QT_TRANSLATE_NOOP("Views", "Measure four times as long"), "measure-longer"},
    {"wide-interval",
     [](const Situation& s) {
       return has_result(s) && s.repeatable && s.summary->figures.speedup && s.summary->figures.speedup_ci95 &&
              (*s.summary->figures.speedup_ci95)[1] - (*s.summary->figures.speedup_ci95)[0] >
                  0.25 * *s.summary->figures.speedup;
     },
     [](const Situation& s) {
       return tr("The interval of the speed-up is wide, %1 to %2: measure longer, on a machine that does nothing else.")
           .arg(times_text((*s.summary->figures.speedup_ci95)[0]), times_text((*s.summary->figures.speedup_ci95)[1]));
     },
     QT_TRANSLATE_NOOP("Views", "Measure four times as long"), "measure-longer"},
    {"only-baseline",
     [](const Situation& s) {
       return has_result(s) && s.repeatable && !s.summary->figures.optimized &&
              run_kind(s.summary->figures.verb) != RunKind::optimize;
     },
     [](const Situation&) {
       return tr("Only one plan was measured here. An optimisation tries the passes and measures both.");
     },
     QT_TRANSLATE_NOOP("Views", "Optimise this model"), "run-again"},
    {"fallbacks", [](const Situation& s) { return fallbacks(s) > 0; },
     [](const Situation& s) {
       return tr("Guards missed %1, each counted %2, and the fallback ran: correct, but slower. The heatmap shows when "
                 "routing changed.")
           .arg(counted_text(fallbacks(s), "time"), to_qstring(guards_counted(s.summary->figures.phase)));
     },
     QT_TRANSLATE_NOOP("Views", "Open the heatmap"), "view-heatmap"},
    {"dropped", [](const Situation& s) { return has_loads(s) && dropped(s) > 0; },
     [](const Situation& s) {
       return tr("%1 kept out by a branch's capacity. The heatmap shows where, with the metric Drops.")
           .arg(counted_text(dropped(s), "cell was", "cells were"));
     },
     QT_TRANSLATE_NOOP("Views", "Open the heatmap"), "view-heatmap"},
    {"imbalance",
     [](const Situation& s) { return has_loads(s) && most_uneven(s) && most_uneven(s)->imbalance >= kHighImbalance; },
     [](const Situation& s) {
       return tr("The busiest branch of %1 gets %2 times the mean load.")
           .arg(most_uneven(s)->name, number_text(most_uneven(s)->imbalance + 1, 2));
     },
     QT_TRANSLATE_NOOP("Views", "Open the heatmap"), "view-heatmap"},
    {"no-inputs", [](const Situation& s) { return s.repeatable && !s.facts.inputs && s.facts.line.batches > 0; },
     [](const Situation& s) {
       return s.facts.pictures ? tr("No pictures are kept, so cells cannot be shown on what they are of.")
                               : tr("No inputs are recorded, so a cell's path cannot be shown with its word.");
     },
     QT_TRANSLATE_NOOP("Views", "Run with recorded inputs"), "run-with-inputs"},
    {"flips",
     [](const Situation& s) {
       return has_result(s) && s.summary->figures.verified && s.summary->figures.verified->flips > 0;
     },
     [](const Situation& s) {
       return tr("%1 at near ties went to another branch than in the reference; rounding explains %2.")
           .arg(counted_text(s.summary->figures.verified->flips, "cell"),
                count_text(s.summary->figures.verified->explained_flips));
     },
     QT_TRANSLATE_NOOP("Views", "Show the table"), "table"},
    {"look-at-routing", [](const Situation& s) { return has_loads(s); },
     [](const Situation&) { return tr("See which branch every cell went to, and how that changed over the run."); },
     QT_TRANSLATE_NOOP("Views", "Open the heatmap"), "view-heatmap"},
    {"compared", [](const Situation& s) { return has_result(s) && s.compared; },
     [](const Situation&) { return tr("Another run is chosen: see which figures differ by more than chance."); },
     QT_TRANSLATE_NOOP("Views", "Compare"), "view-compare"},
    {"keep-as-reference", [](const Situation& s) { return has_result(s) && !s.compared; },
     [](const Situation&) {
       return tr("Keep this run as the reference, then choose another: every figure is compared.");
     },
     QT_TRANSLATE_NOOP("Views", "Compare with this run"), "compare-run"},
    {"repeat", [](const Situation& s) { return s.repeatable; },
     [](const Situation&) { return tr("The command behind this run, to repeat it on another machine."); },
     QT_TRANSLATE_NOOP("Views", "Copy as command line"), "copy-command"},
    {"open-another", [](const Situation& s) { return !has_result(s); },
     [](const Situation&) { return tr("Look at another session instead."); },
     QT_TRANSLATE_NOOP("Views", "Open session..."), "open-session"},
};

}  // namespace

std::optional<Summary> shown(const std::shared_ptr<const Summary>& result) {
  constexpr std::array kMeasured = {"optimize", "run", "profile", "generate"};
  if (!result || std::find(kMeasured.begin(), kMeasured.end(), result->figures.verb) == kMeasured.end()) return {};
  Summary summary = *result;
  if (!summary.figures.is_verified())
    for (PassReport& pass : summary.figures.passes) pass.clear_gains();
  if (summary.generated) {
    summary.figures.baseline = PlanFigures{};
    summary.figures.baseline->latency_ms = summary.generated->latency_ms;
    summary.figures.baseline->weights_read = summary.generated->weights_read;
    summary.figures.dataset.batches = summary.generated->batches;
  }
  return summary;
}

std::vector<RouterSummary> routers_of(const Situation& s) {
  std::vector<RouterSummary> rows;
  if (!has_loads(s)) {
    if (!s.summary) return rows;
    // Uses loads without padding if the run has them: older ones do not.
    for (const RouterFigures& r : s.summary->figures.routing)
      rows.push_back(r.load_real.empty()
                         ? RouterSummary{to_qstring(r.router), r.branches, r.cells, r.dropped, r.imbalance, r.entropy}
                         : RouterSummary{to_qstring(r.router), r.branches, r.cells_real, r.dropped, r.imbalance_real,
                                         r.entropy_real});
    return rows;
  }
  for (const auto& r : s.facts.routers) {
    const qint64 cells = std::accumulate(r.load.begin(), r.load.end(), int64_t{0}),
                 kept_out = std::accumulate(r.dropped.begin(), r.dropped.end(), int64_t{0});
    rows.push_back({to_qstring(r.router), r.branches, cells, kept_out, r.imbalance, r.entropy, r.chance});
  }
  return rows;
}

std::span<const StepRule> step_rules() { return kRules; }

std::vector<NextStep> next_steps(const Situation& situation, size_t most) {
  std::vector<NextStep> steps;
  for (const StepRule& rule : kRules) {
    if (steps.size() == most) break;
    const bool taken =
        std::any_of(steps.begin(), steps.end(), [&](const NextStep& s) { return s.action == rule.action; });
    if (!taken && rule.when(situation))
      steps.push_back({rule.id, rule.sentence(situation), tr(rule.button), rule.action});
  }
  return steps;
}

}  // namespace stormcell::views
