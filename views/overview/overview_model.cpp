#include "views/overview/overview_model.h"

#include <QCoreApplication>
#include <algorithm>

#include "views/kit/figure_text.h"
#include "views/overview/overview_table.h"

namespace stormcell::views {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Overview", text); }
QString of(const std::string& text) { return QString::fromStdString(text); }
const QString kDot = QString::fromUtf8("  ·  ");

QString range_text(const Interval95& ci) { return tr("%1 to %2").arg(times_text(ci[0]), times_text(ci[1])); }

/// Better, worse, or not to be told apart from 1.
Tone tone_of(const std::optional<Interval95>& ci) {
  if (ci && (*ci)[0] > 1) return Tone::good;
  if (ci && (*ci)[1] < 1) return Tone::bad;
  return Tone::plain;
}

void set_headline(const Situation& s, OverviewPageModel& page) {
  if (!s.summary) {
    page.headline = s.facts.line.status == "running"    ? tr("This run is still going on.")
                    : s.facts.line.status == "finished" ? s.facts.latency_ms.runs > 0 ? tr("A recording: where the cells went, and when.")
                                                                                      : tr("A recording: where the cells went.")
                                                        : tr("This run left no result: it is %1.").arg(of(s.facts.line.status));
    page.tone = s.facts.line.status == "finished" || s.facts.line.status == "running" ? Tone::plain : Tone::warn;
    return;
  }
  const Summary& f = *s.summary;
  if (f.proof && !f.proof->passed) {
    page.headline = tr("Not verified: the outputs differ from the reference.");
    page.tone = Tone::bad;
  } else if (f.verb == "optimize" && f.verified() && !f.optimized) {
    const bool lost = std::any_of(f.passes.begin(), f.passes.end(), [](const PassSummary& p) { return p.left_out; });
    page.headline = lost ? tr("Nothing was gained: the passes that applied made the plan slower and are left out.")
                         : tr("Nothing was gained: no pass applied.");
  } else if (f.verb == "optimize" && !f.speedup) {
    page.headline = tr("Not verified: no speed-up can be reported.");
    page.tone = Tone::warn;
  } else if (f.speedup) {
    page.tone = tone_of(f.speedup_ci);
    page.headline = page.tone == Tone::good  ? tr("%1 as fast, with the same result.").arg(times_text(*f.speedup))
                    : page.tone == Tone::bad ? tr("Slower than the baseline, with the same result.")
                                             : tr("No measurable difference in speed; the result is the same.");
  } else if (f.generated) {
    page.headline = tr("%1 tokens written, %2 a second.").arg(count_text(f.generated->tokens), number_text(f.generated->tokens_per_s));
  } else if (const auto& plan = f.optimized ? f.optimized : f.baseline) {
    page.headline =
        f.verified() ? tr("%1 a batch, verified.").arg(duration_text(plan->median)) : tr("%1 a batch.").arg(duration_text(plan->median));
  }
}

void set_lead(const Situation& s, OverviewPageModel& page) {
  QStringList parts;
  const RunLine& line = s.facts.line;
  page.kicker = tr("Run #%1, %2").arg(line.id).arg(of(line.kind));
  if (!line.name.empty()) page.kicker += " " + of(line.name);
  if (!line.started.empty()) page.kicker += kDot + moment_text(line.started);
  const QString model = s.summary && !s.summary->model.isEmpty() ? s.summary->model : of(s.facts.model);
  parts << (s.summary && !s.summary->weights.isEmpty() ? tr("%1 with %2 weights").arg(model, s.summary->weights) : model);
  if (s.summary && !s.summary->data.isEmpty()) parts << tr("data: %1").arg(s.summary->data);
  const qint64 batches = s.summary && s.summary->batches > 0 ? s.summary->batches : line.batches;
  parts << (batches == 1 ? tr("1 batch") : tr("%1 batches").arg(count_text(batches)));
  if (s.summary && s.summary->cells > 0)
    parts << tr("%1 cells, %2 without padding").arg(count_text(s.summary->cells), count_text(s.summary->real_cells));
  page.lead = parts.join(kDot);
}

void set_hero(const Situation& s, HeroFigure& hero) {
  if (!s.summary) {
    if (s.facts.latency_ms.runs > 0)
      hero = {tr("LATENCY WHILE RECORDING"),
              duration_text(s.facts.latency_ms.median),
              tr("median of %1 batches, recording included").arg(count_text(s.facts.latency_ms.runs)),
              {},
              {},
              Tone::plain};
    else
      hero = {tr("BATCHES"), count_text(s.facts.line.batches), tr("recorded; no times are in this run"), {}, {}, Tone::plain};
    return;
  }
  const Summary& f = *s.summary;
  const auto& plan = f.optimized && (f.verified() || !f.baseline) ? f.optimized : f.baseline;
  if (f.speedup) {
    hero = {tr("SPEED-UP"), times_text(*f.speedup), tr("measured: median over pairs"), f.speedup, f.speedup_ci, tone_of(f.speedup_ci)};
    if (f.speedup_ci) hero.note = tr("95 % interval %1; pairs, measured").arg(range_text(*f.speedup_ci));
  } else if (f.verb == "optimize" && f.verified() && !f.optimized) {
    hero = {tr("SPEED-UP"), QString::fromUtf8("–"), tr("the plan is the baseline's"), {}, {}, Tone::plain};
  } else if (f.verb == "optimize") {
    hero = {tr("SPEED-UP"), QString::fromUtf8("–"), tr("none is shown: the result is not verified"), {}, {}, Tone::plain};
  } else if (f.generated) {
    hero = {tr("TOKENS A SECOND"),
            number_text(f.generated->tokens_per_s),
            tr("measured over %1 sequences").arg(count_text(f.generated->sequences)),
            {},
            {},
            Tone::plain};
  } else if (plan) {
    hero = {tr("LATENCY OF A BATCH"),
            duration_text(plan->median),
            tr("median of %1 executions; measured").arg(count_text(plan->runs)),
            {},
            {},
            Tone::plain};
  }
}

/// Padding that each plan computes, beside what batches of like length would.
void add_padding(const Summary& f, bool both, OverviewPageModel& page) {
  if (f.padding.isEmpty() || f.cells <= 0) return;
  const auto share = [&](qint64 cells) { return static_cast<double>(cells - f.real_cells) / static_cast<double>(cells); };
  const bool unpadded =
      std::any_of(f.passes.begin(), f.passes.end(), [](const PassSummary& p) { return p.name == "unpad" && p.applied && !p.left_out; });
  const double padded = share(f.cells), after = unpadded ? 0 : padded, before = f.baseline ? padded : after;
  const QString other = f.cells == f.cells_by_length
                            ? tr("of the cells; %1 in the data's order").arg(percent_text(share(f.cells_as_given)))
                            : tr("of the cells; %1 in batches of like length").arg(percent_text(share(f.cells_by_length)));
  page.figures.push_back({tr("Padding computed"),
                          other,
                          tr("Counted. %1.").arg(f.padding.toHtmlEscaped()),
                          percent_text(before),
                          both ? percent_text(after) : QString(),
                          {},
                          before,
                          both ? after : 0});
}

void set_figures(const Summary& f, OverviewPageModel& page) {
  // An unverified plan's times beside the baseline's would be a speed-up in other words.
  const bool both = f.baseline && f.optimized && f.verified();
  const auto& only = f.baseline ? f.baseline : f.optimized;
  page.figures_title = both                         ? tr("Baseline against optimised")
                       : f.baseline || !f.optimized ? tr("What was measured")
                                                    : tr("The optimised plan");
  page.before_title = both ? tr("baseline") : QString();
  page.after_title = both ? tr("optimised") : QString();
  for (const PlanFigure& figure : plan_figures()) {
    const std::optional<double> none, before = only ? figure.value(*only) : none, after = both ? figure.value(*f.optimized) : none;
    if (!before && !after) continue;
    FigureRow row{tr(figure.name),
                  tr(figure.note),
                  tr(figure.tip),
                  before ? figure.text(*before) : QString(),
                  after ? figure.text(*after) : QString(),
                  {},
                  before.value_or(0),
                  after.value_or(0)};
    if (before && after && figure.is_compared) row.change = change_text(*before, *after);
    page.figures.push_back(std::move(row));
  }
  add_padding(f, both, page);
  if (f.generated) {
    page.figures.push_back({tr("Stopped by the end mark"),
                            tr("sequences; the others reached the longest length"),
                            tr("Sequences whose last token ends a text. Counted."),
                            count_text(f.generated->eos),
                            {},
                            {},
                            0,
                            0});
    if (f.generated->accuracy)
      page.figures.push_back({tr("Exact matches"),
                              tr("of the expected texts"),
                              tr("Sequences equal to their target / all with a target. Counted."),
                              percent_text(*f.generated->accuracy),
                              {},
                              {},
                              0,
                              0});
  }
}

void set_waterfall(const Summary& f, OverviewPageModel& page) {
  if (f.passes.empty() || !f.verified()) return;
  double reached = 1;
  for (const PassSummary& p : f.passes) {
    WaterfallRow row{p.name, p.reason, {}, {}, p.applied, reached, {}, p.cumulative_ci};
    row.left_out = p.left_out;
    if (p.applied) {
      row.to = p.cumulative;
      if (p.cumulative) row.value = times_text(*p.cumulative), reached = *p.cumulative;
    }
    row.tip = "<b>" + p.name.toHtmlEscaped() + "</b><br>" + p.reason.toHtmlEscaped();
    if (row.to) row.tip += "<br>" + tr("%1 with all passes above it (measured)").arg(times_text(*row.to));
    if (row.interval) row.tip += ", " + tr("95 % interval %1").arg(range_text(*row.interval));
    if (p.alone) row.tip += "<br>" + tr("%1 alone (measured)").arg(times_text(*p.alone));
    if (p.alone && p.alone_ci) row.tip += ", " + tr("95 % interval %1").arg(range_text(*p.alone_ci));
    if (p.guard_hits + p.fallbacks > 0)
      row.tip += "<br>" + tr("%1 guards held, %2 fallbacks").arg(count_text(p.guard_hits), count_text(p.fallbacks));
    page.waterfall.push_back(std::move(row));
  }
}

void set_routers(const Situation& s, OverviewPageModel& page) {
  const auto add = [&](const QString& name, int branches, double imbalance, double entropy) {
    page.routers.push_back(
        {name, number_text(imbalance, 2),
         tr("<b>%1</b>: %2 branches<br>imbalance %3 = max load / mean load - 1; entropy %4 bits<br>from counted loads, without padding")
             .arg(name.toHtmlEscaped())
             .arg(branches)
             .arg(number_text(imbalance), number_text(entropy)),
         imbalance});
  };
  for (const RouterSummary& r : routers_of(s)) add(r.name, r.branches, r.imbalance, r.entropy);
  std::stable_sort(page.routers.begin(), page.routers.end(), [](const auto& a, const auto& b) { return a.imbalance > b.imbalance; });
}

void set_footer(const Situation& s, OverviewPageModel& page) {
  QStringList parts;
  if (!s.summary) {
    if (!s.facts.device.empty()) parts << tr("recorded on %1").arg(of(s.facts.device));
  } else {
    const Summary& f = *s.summary;
    QString where = tr("Measured on %1").arg(f.device);
    if (f.threads > 0) where += ", " + tr("%1 threads").arg(f.threads);
    if (!f.placement.isEmpty()) where += " (" + f.placement + ")";
    parts << where;
    if (f.peak_gflops > 0) parts << tr("ceilings %1 GFLOP/s and %2 GB/s").arg(number_text(f.peak_gflops), number_text(f.read_gbps));
    if (!f.measured.isEmpty())
      parts << f.measured;
    else if (f.baseline && f.baseline->runs > 0)
      parts << tr("%1 executions a plan").arg(count_text(f.baseline->runs));
    parts << "Stormcell " + f.version;
  }
  page.footer = parts.join(kDot);
}

}  // namespace

ProofText proof_of(const Situation& s) {
  if (!s.summary) return {Tone::warn, tr("Nothing was verified"), tr("Recorded batches alone; no outputs were compared.")};
  const auto& proof = s.summary->proof;
  if (!proof)
    return {
        Tone::warn, tr("Not compared with the reference"),
        s.summary->verb == "generate" ? tr("Decoding is not verified in this version.") : tr("No batch was run through the reference.")};
  QString text =
      proof->text + ". " +
      tr("Largest difference %1 of the largest value, tolerance %2.").arg(number_text(proof->largest), number_text(proof->tolerance));
  for (const QString& reason : proof->reasons) text += " " + tr("Wrong: %1.").arg(reason);
  text += " " + (proof->flips == 0 ? tr("No routing decision differs.")
                                   : tr("%1 routing decisions differ, %2 of them explained by rounding at a near tie.")
                                         .arg(count_text(proof->flips), count_text(proof->explained_flips)));
  if (proof->consequences > 0) text += " " + tr("%1 more follow from that.").arg(count_text(proof->consequences));
  if (!proof->format.isEmpty())
    text += " " + tr("Converting to %1 changes the outputs by %2 of their largest value; allowed are %3.")
                      .arg(proof->format, number_text(proof->format_cost), number_text(proof->format_tolerance));
  if (proof->dropped > 0) text += " " + tr("%1 cells were dropped by capacity, as in the reference.").arg(count_text(proof->dropped));
  return {proof->passed ? Tone::good : Tone::bad, proof->passed ? tr("Verified") : tr("Verification failed"), text};
}

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
    set_figures(*s.summary, page);
    set_waterfall(*s.summary, page);
    for (const QString& w : s.summary->warnings) page.notes << tr("Warning: %1").arg(w);
    if (s.summary->truncated > 0)
      page.notes << tr("Warning: %1 sequences were cut to the model's length.").arg(count_text(s.summary->truncated));
    return page;
  }
  page.notes << tr("Missing here: speed-up, verification, memory and passes. %1")
                    .arg(s.facts.line.status == "finished" ? tr("They belong to the runs that measured, not to recordings.")
                                                           : tr("The run did not reach its end."));
  page.figures_title = tr("What was recorded");
  const auto add = [&](const QString& name, const QString& note, const QString& tip, const QString& value) {
    page.figures.push_back({name, note, tip, value, {}, {}, 0, 0});
  };
  if (s.facts.latency_ms.runs > 0) {
    add(tr("Batches"), tr("recorded"), tr("Counted while the run was recorded."), count_text(s.facts.line.batches));
    add(tr("Latency, 95th percentile"), tr("recording included"),
        tr("95 of 100 recorded batches took at most this long. Measured once each."), duration_text(s.facts.latency_ms.p95));
    add(tr("Latency, fastest"), tr("recording included"), tr("The shortest batch. Measured."), duration_text(s.facts.latency_ms.min));
  }
  add(tr("Routers"), tr("that chose branches"), tr("Routers of the recorded model."),
      count_text(static_cast<qint64>(s.facts.routers.size())));
  add(tr("Decisions"), s.facts.line.decisions ? tr("every one is stored") : tr("only their sums are stored"),
      tr("`profile` and `optimize` store each decision."), s.facts.line.decisions ? tr("all") : tr("sums"));
  add(tr("Inputs"), tr("texts or token ids"), tr("Stored with --record-inputs, and for demos."),
      s.facts.inputs ? tr("recorded") : tr("not recorded"));
  return page;
}

}  // namespace stormcell::views
