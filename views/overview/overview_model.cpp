#include "views/overview/overview_model.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/budget_text.h"
#include "core/summary/exit_target.h"
#include "core/summary/items_text.h"
#include "core/summary/latency.h"
#include "core/summary/measured_text.h"
#include "core/summary/placement_text.h"
#include "core/summary/verdict_text.h"
#include "core/summary/weights_text.h"
#include "views/overview/overview_figures.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

const QString kDot = QString::fromUtf8("  ·  ");

QString range_text(const std::array<double, 2>& ci) { return tr("%1 to %2").arg(times_text(ci[0]), times_text(ci[1])); }

/// Better, worse, or not distinguishable from 1.
Tone tone_of(const std::optional<std::array<double, 2>>& ci) {
  if (ci && (*ci)[0] > 1) return Tone::good;
  if (ci && (*ci)[1] < 1) return Tone::bad;
  return Tone::plain;
}

/// The gain with a target over the unchanged model, and the passes' part of it.
std::pair<QString, Tone> target_headline(const ExitTarget& t) {
  QString text = to_qstring(over_model_sentence(t)) + ".";
  text[0] = text[0].toUpper();
  if (!t.speedup_over_model) return {text, Tone::warn};
  const auto& ci = t.speedup_over_model_ci95;
  return {text, ci && (*ci)[0] > 1 ? Tone::good : ci && (*ci)[1] < 1 ? Tone::bad : Tone::plain};
}

std::pair<QString, Tone> speed_headline(const RunSummaryFigures& f) {
  if (f.exit_target && f.is_verified()) return target_headline(*f.exit_target);
  const SpeedVerdict verdict = speed_verdict(f);
  const QString sentence = to_qstring(speed_sentence(verdict));
  switch (verdict) {
    case SpeedVerdict::faster:
      return {times_text(*f.speedup) + " " + sentence, Tone::good};
    case SpeedVerdict::slower:
      return {sentence, Tone::bad};
    case SpeedVerdict::withheld:
      return {tr("The same result; the speed-up was not measured well enough."), Tone::warn};
    case SpeedVerdict::none_stated:
    case SpeedVerdict::not_verified:
      return {sentence, Tone::warn};
    case SpeedVerdict::not_measurable:
    case SpeedVerdict::nothing_applied:
    case SpeedVerdict::all_left_out:
      return {sentence, Tone::plain};
  }
  return {};
}

void set_headline(const Situation& s, OverviewPageModel& page) {
  if (!s.summary) {
    page.headline = s.facts.line.status == RunStatus::running ? tr("This run is still going on.")
                    : s.facts.line.status == RunStatus::finished
                        ? s.facts.latency_ms.runs > 0 ? tr("A recording: where the cells went, and when.")
                                                      : tr("A recording: where the cells went.")
                        : tr("This run left no result: it is %1.").arg(to_qstring(to_text(s.facts.line.status)));
    page.tone = s.facts.line.status == RunStatus::finished || s.facts.line.status == RunStatus::running ? Tone::plain
                                                                                                        : Tone::warn;
    return;
  }
  const RunSummaryFigures& f = s.summary->figures;
  const auto& generated = s.summary->generated;
  if (f.verified && !f.verified->passed) {
    page.headline = is_inconclusive(f.verified->reasons)
                        ? tr("Not verified: too little could be compared with the reference.")
                        : tr("Not verified: the outputs differ from the reference.");
    page.tone = Tone::bad;
  } else if (generated && generated->verified && !generated->verified->passed) {
    page.headline = is_inconclusive(generated->verified->reasons)
                        ? tr("Not verified: too little could be compared with the reference.")
                        : tr("Not verified: what was decoded differs from the reference.");
    page.tone = Tone::bad;
  } else if (run_kind(f.verb) == RunKind::optimize) {
    std::tie(page.headline, page.tone) = speed_headline(f);
  } else if (generated) {
    page.headline = tr("%1 written, %2 a second.")
                        .arg(counted_text(generated->tokens, "token"), number_text(generated->tokens_per_s));
  } else if (const auto& plan = f.optimized ? f.optimized : f.baseline) {
    const QString took = tr(has_mean(plan->latency_ms) ? "%1 a batch (mean)%2" : "%1 a batch (median)%2");
    page.headline =
        took.arg(duration_text(typical_milliseconds(plan->latency_ms)), f.is_verified() ? tr(", verified.") : ".");
  }
}

void set_lead(const Situation& s, OverviewPageModel& page) {
  QStringList parts;
  const RunLine& line = s.facts.line;
  page.kicker = tr("Run #%1, %2").arg(line.id).arg(to_qstring(line.kind));
  if (says_decoding(line.phase, line.kind)) page.kicker += tr(", decoding");
  if (!line.name.empty()) page.kicker += " " + to_qstring(line.name);
  if (!line.started.empty()) page.kicker += kDot + moment_text(line.started);
  const ModelFigures said = s.summary ? s.summary->figures.model : ModelFigures{};
  const DatasetFigures data = s.summary ? s.summary->figures.dataset : DatasetFigures{};
  const QString model = to_qstring(said.name.empty() ? s.facts.model : said.name);
  parts << (said.weights.empty() ? model : tr("%1 with %2").arg(model, to_qstring(weights_text(said))));
  if (!data.name.empty()) parts << tr("data: %1").arg(to_qstring(data.name));
  const qint64 batches = data.batches > 0 ? data.batches : line.batches;
  parts << counted_text(batches, "batch");
  if (are_pictures(data))
    parts << to_qstring(pictures_text(data.sizes));
  else if (data.cells > 0)
    parts << tr("%1, %2 without padding").arg(counted_text(data.cells, "cell"), count_text(data.cells_without_padding));
  if (line.weight_budget > 0) parts << tr("budget: %1").arg(to_qstring(budget_word(line.weight_budget)));
  page.lead = parts.join(kDot);
}

void set_hero(const Situation& s, HeroFigure& hero) {
  if (!s.summary) {
    if (s.facts.latency_ms.runs > 0)
      hero = {tr("LATENCY WHILE RECORDING"),
              duration_text(s.facts.latency_ms.median),
              tr("median of %1, recording included").arg(counted_text(s.facts.latency_ms.runs, "batch")),
              {},
              {},
              Tone::plain};
    else
      hero = {tr("BATCHES"), count_text(s.facts.line.batches), tr("recorded; no times are in this run"), {}, {},
              Tone::plain};
    return;
  }
  const RunSummaryFigures& f = s.summary->figures;
  const auto& generated = s.summary->generated;
  const auto& plan = f.optimized && (f.is_verified() || !f.baseline) ? f.optimized : f.baseline;
  if (f.speedup) {
    hero = {tr("SPEED-UP"), times_text(*f.speedup),  tr("measured: of the time of all batches"), f.speedup,
            f.speedup_ci95, tone_of(f.speedup_ci95), to_qstring(speedup_basis_text(f))};
    if (f.speedup_ci95) hero.note = tr("of the time of all batches, 95 % interval %1").arg(range_text(*f.speedup_ci95));
  } else if (f.withheld) {
    hero = {tr("SPEED-UP"), tr(kNotMeasured), to_qstring(to_text(*f.withheld)), {}, {}, Tone::warn};
  } else if (run_kind(f.verb) == RunKind::optimize && f.is_verified() && !f.optimized) {
    hero = {tr("SPEED-UP"), QString::fromUtf8("–"), tr("the plan is the baseline's"), {}, {}, Tone::plain};
  } else if (run_kind(f.verb) == RunKind::optimize) {
    hero = {tr("SPEED-UP"), QString::fromUtf8("–"), tr("none is shown: the result is not verified"), {}, {},
            Tone::plain};
  } else if (generated) {
    hero = {tr("TOKENS A SECOND"),
            number_text(generated->tokens_per_s),
            tr("measured over %1").arg(counted_text(generated->sequences, "sequence")),
            {},
            {},
            Tone::plain};
  } else if (plan) {
    hero = {tr("LATENCY OF A BATCH"),
            duration_text(typical_milliseconds(plan->latency_ms)),
            tr("%1 of %2; measured")
                .arg(to_qstring(typical_name(plan->latency_ms)), counted_text(plan->latency_ms.runs, "execution")),
            {},
            {},
            Tone::plain};
  }
}

void set_waterfall(const RunSummaryFigures& f, OverviewPageModel& page) {
  if (f.passes.empty() || !f.is_verified()) return;
  double reached = 1;
  for (const PassReport& p : f.passes) {
    const QString name = to_qstring(pass_name(p.name));
    WaterfallRow row{name, to_qstring(p.reason), {}, {}, p.applied, reached, {}, p.speedup_cumulative_ci95};
    row.left_out = p.left_out;
    if (p.applied) row.tone = tone_of(p.speedup_own_ci95);
    if (p.applied) {
      row.to = p.speedup_cumulative;
      if (row.to) row.value = times_text(*row.to), reached = *row.to;
      if (!row.to && p.withheld) row.value = tr(kNotMeasured);
    }
    row.tip = "<b>" + name.toHtmlEscaped() + "</b><br>" + to_qstring(p.reason).toHtmlEscaped();
    if (p.withheld)
      row.tip += "<br>" + tr("its speed: %1").arg(to_qstring(not_measured_text(*p.withheld)).toHtmlEscaped());
    if (row.to) row.tip += "<br>" + tr("%1 with all passes above it (measured)").arg(times_text(*row.to));
    if (row.interval) row.tip += ", " + tr("95 % interval %1").arg(range_text(*row.interval));
    if (p.speedup_own) row.tip += "<br>" + tr("%1 of the speed without it (measured)").arg(times_text(*p.speedup_own));
    if (p.speedup_own && p.speedup_own_ci95)
      row.tip += ", " + tr("95 % interval %1").arg(range_text(*p.speedup_own_ci95));
    if (p.speedup_alone) row.tip += "<br>" + tr("%1 alone (measured)").arg(times_text(*p.speedup_alone));
    if (p.speedup_alone && p.speedup_alone_ci95)
      row.tip += ", " + tr("95 % interval %1").arg(range_text(*p.speedup_alone_ci95));
    if (p.guard_hits + p.fallbacks > 0)
      row.tip += "<br>" + tr("guards missed %1 of %2 times, each counted %3")
                              .arg(count_text(p.fallbacks), count_text(p.guard_hits + p.fallbacks),
                                   to_qstring(guards_counted(f.phase)));
    page.waterfall.push_back(std::move(row));
  }
}

void set_routers(const Situation& s, OverviewPageModel& page) {
  for (const RouterSummary& r : routers_of(s)) {
    QString tip = tr("<b>%1</b>: %2 branches<br>imbalance %3 = max load / mean load - 1; entropy %4 "
                     "bits<br>from counted loads, without padding")
                      .arg(r.name.toHtmlEscaped())
                      .arg(r.branches)
                      .arg(number_text(r.imbalance), number_text(r.entropy));
    if (r.chance)
      tip += "<br>" + tr("95 % of even routers with as many cells have an imbalance of %1 to %2: %3")
                          .arg(number_text(r.chance->imbalance_low), number_text(r.chance->imbalance_high),
                               r.chance->beyond ? tr("beyond chance") : tr("within chance, so grey"));
    page.routers.push_back({r.name, number_text(r.imbalance, 2), tip, r.imbalance, r.within_chance()});
  }
  std::stable_sort(page.routers.begin(), page.routers.end(),
                   [](const auto& a, const auto& b) { return a.imbalance > b.imbalance; });
}

void set_footer(const Situation& s, OverviewPageModel& page) {
  QStringList parts;
  if (!s.summary) {
    if (!s.facts.device.empty()) parts << tr("recorded on %1").arg(to_qstring(s.facts.device));
  } else {
    const RunSummaryFigures& f = s.summary->figures;
    const DeviceFigures& d = f.device;
    QString where = tr("Measured on %1").arg(to_qstring(d.name));
    if (d.threads > 0) where += ", " + counted_text(d.threads, "thread");
    if (const std::string cores = placement_text(d); !cores.empty()) where += " (" + to_qstring(cores) + ")";
    parts << where;
    if (d.peak_gflops > 0)
      parts << tr("ceilings %1 GFLOP/s and %2 GB/s").arg(number_text(d.peak_gflops), number_text(d.read_gbps));
    if (const std::string measured = measured_text(f); !measured.empty())
      parts << to_qstring(measured);
    else if (f.baseline && f.baseline->latency_ms.runs > 0)
      parts << tr("%1 a plan").arg(counted_text(f.baseline->latency_ms.runs, "execution"));
    parts << "Stormcell " + to_qstring(f.version);
  }
  page.footer = parts.join(kDot);
}

QString reasons_of(const std::vector<std::string>& reasons) {
  QString text;
  for (const std::string& reason : reasons)
    text += " " + (is_inconclusive(reason) ? tr("Not verified: %1.") : tr("Failed: %1.")).arg(to_qstring(reason));
  return text;
}

QString title_of(bool passed, const std::vector<std::string>& reasons) {
  return passed ? tr("Verified") : is_inconclusive(reasons) ? tr("Not verified") : tr("Verification failed");
}

ProofText proof_of_decoding(const DecodedVerification& proof) {
  return {proof.passed ? Tone::good : Tone::bad, title_of(proof.passed, proof.reasons),
          to_qstring(proof.text) + "." + reasons_of(proof.reasons)};
}

}  // namespace

ProofText proof_of(const Situation& s) {
  if (!s.summary)
    return {Tone::plain, tr("Nothing to verify"), tr("Recorded batches alone: there are no outputs to compare.")};
  const auto& proof = s.summary->figures.verified;
  if (const auto& generated = s.summary->generated; generated && generated->verified)
    return proof_of_decoding(*generated->verified);
  // A recording of the baseline: no other plan ran that could differ.
  if (!proof && run_kind(s.summary->figures.verb) == RunKind::profile)
    return {Tone::plain, tr("Nothing to verify"), tr("The baseline alone was recorded: no other plan could differ.")};
  if (!proof) return {Tone::warn, tr("Not compared with the reference"), tr("No batch was run through the reference.")};
  const std::string equality = equality_text(*proof, s.summary->figures.dataset.batches);
  QString text = to_qstring(proof->text) + ". " + (equality.empty() ? QString() : to_qstring(equality) + ". ") +
                 tr("Largest difference %1 of the largest value, tolerance %2.")
                     .arg(number_text(proof->max_rel_diff), number_text(proof->tolerance));
  text += reasons_of(proof->reasons);
  text += " " + (proof->flips == 0
                     ? tr("No routing decision differs.")
                     : tr("%1, %2 of them explained by rounding at a near tie.")
                           .arg(counted_text(proof->flips, "routing decision differs", "routing decisions differ"),
                                count_text(proof->explained_flips)));
  if (proof->consequences > 0)
    text += " " + tr("%1 from that.").arg(counted_text(proof->consequences, "more follows", "more follow"));
  if (const auto& format = proof->format) {
    text +=
        " " + tr("Converting to %1 changes the outputs by %2 of their largest value with the routing choices of the "
                 "stored weights; "
                 "allowed are %3.")
                  .arg(to_qstring(format->dtype), number_text(format->max_rel_diff), number_text(format->tolerance));
    if (format->choices > 0)
      text += " " + tr("Running freely it is %1: %2 of %3 routing choices differ from those of the stored weights.")
                        .arg(number_text(format->free_max_rel_diff), count_text(format->differing_choices),
                             count_text(format->choices));
  }
  if (proof->dropped > 0)
    text +=
        " " +
        tr("%1 dropped by capacity, as in the reference.").arg(counted_text(proof->dropped, "cell was", "cells were"));
  return {proof->passed ? Tone::good : Tone::bad, title_of(proof->passed, proof->reasons), text};
}

namespace {

/// How much of the loads is beyond chance, and a warning of random tokens.
void add_chance_notes(const Situation& s, OverviewPageModel& page) {
  const std::vector<RouterSummary> routers = routers_of(s);
  const auto judged = std::count_if(routers.begin(), routers.end(), [](const auto& r) { return r.chance.has_value(); });
  const auto within = std::count_if(routers.begin(), routers.end(), [](const auto& r) { return r.within_chance(); });
  if (judged > 0)
    page.notes << (within == judged
                       ? tr("The loads are within chance: even routers with as many cells have such loads, too.")
                       : tr("The loads of %1 of %2 are beyond chance.")
                             .arg(count_text(judged - within), counted_text(judged, "router")));
  if (!s.facts.random_tokens) return;
  page.notes << tr(
      "Warning: this recording looks like random tokens, which overstate the skew of routing. Record real "
      "text.");
  page.notes_tone = Tone::warn;
}

}  // namespace

OverviewPageModel make_page(const Situation& s) {
  OverviewPageModel page;
  set_headline(s, page);
  set_lead(s, page);
  set_hero(s, page.hero);
  page.proof = proof_of(s);
  set_footer(s, page);
  set_routers(s, page);
  page.steps = next_steps(s);
  if (s.summary) {
    set_figures(s, page);
    set_waterfall(s.summary->figures, page);
    if (const std::string& note = s.summary->figures.dataset.note; !note.empty())
      page.notes << tr("The data are %1.").arg(to_qstring(note));
    for (const std::string& w : s.summary->figures.warnings) page.notes << tr("Warning: %1").arg(to_qstring(w));
    const int64_t truncated = s.summary->figures.dataset.truncated;
    if (s.summary->figures.warnings.empty() && truncated == 0) page.notes_tone = Tone::plain;
    if (truncated > 0)
      page.notes << tr("Warning: %1 cut to the model's length.")
                        .arg(counted_text(truncated, "sequence was", "sequences were"));
    add_chance_notes(s, page);
    return page;
  }
  page.notes << tr("Missing here: speed-up, verification, memory and passes. %1")
                    .arg(s.facts.line.status == RunStatus::finished
                             ? tr("They belong to the runs that measured, not to recordings.")
                             : tr("The run did not reach its end."));
  if (s.facts.line.status == RunStatus::finished) page.notes_tone = Tone::plain;
  add_chance_notes(s, page);
  set_recorded_figures(s, page);
  return page;
}

}  // namespace stormcell::views
