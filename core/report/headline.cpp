#include <cctype>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/run_kind.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/budget_text.h"
#include "core/summary/dense_text.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/item_costs_text.h"
#include "core/summary/items_text.h"
#include "core/summary/latency.h"
#include "core/summary/limit_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/quality_text.h"
#include "core/summary/stated_speedups.h"
#include "core/summary/verdict_text.h"
#include "core/summary/weights_text.h"

namespace stormcell::report {
namespace {

/// With a target, the gain is that over the unchanged model.
std::string speed_text(const RunSummaryFigures& f) {
  const SpeedVerdict shown = speed_verdict(f);
  std::string text;
  if (f.exit_target && f.is_verified()) {
    text = escape(over_model_sentence(*f.exit_target)) + ". By passes alone: ";
    text[0] = static_cast<char>(std::toupper(text[0]));
  }
  if (shown == SpeedVerdict::withheld)
    return text + "The same result; the speed-up was " + not_measured_text(*f.withheld) + ".";
  return text + (shown == SpeedVerdict::faster ? number(*f.speedup) + " times " : std::string()) +
         std::string(speed_sentence(shown));
}

std::string verdict(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (!d.has_summary && d.run.status == RunStatus::finished) return "What was recorded.";
  if (!d.has_summary) return "This run left no result: it is " + std::string(to_text(d.run.status)) + ".";
  constexpr const char* kTooLittle = "Not verified: too little could be compared with the reference.";
  if (f.verified && !f.verified->passed)
    return is_inconclusive(f.verified->reasons) ? kTooLittle : "Not verified: the outputs differ from the reference.";
  if (d.decoded && d.decoded->verified && !d.decoded->verified->passed)
    return is_inconclusive(d.decoded->verified->reasons) ? kTooLittle
                                                         : "Not verified: what was decoded differs from the reference.";
  if (d.decoded) return number(d.decoded->tokens_per_s) + " tokens a second.";
  if (run_kind(f.verb) == RunKind::optimize) return speed_text(f);
  if (const auto& plan = f.optimized ? f.optimized : f.baseline)
    return milliseconds(typical_milliseconds(plan->latency_ms)) + " a batch (" +
           std::string(typical_name(plan->latency_ms)) + ")" + (d.trusted() ? ", verified." : ".");
  return "What was recorded.";
}

/// One sentence on the network if its answers are verified: which items answer early, or what its routers save. Empty:
/// there is nothing to say.
std::string about(const ReportData& d) {
  if (!d.trusted()) return {};
  const std::string exits = exits_headline(d.figures);
  return exits.empty() ? item_costs_headline(d.figures) : exits;
}

std::string title(const ReportData& d) {
  const std::string text = about(d);
  return text.empty() ? verdict(d) : escape(text) + ".";
}

/// The verdict and the rest of the sentence, if the title says about().
std::string beside_title(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (about(d).empty()) return {};
  // Both plans of a comparison have the found thresholds; with the model's own ones the speed-up differs.
  std::string text = "<strong>" + verdict(d) + "</strong>" +
                     (f.exit_target && f.optimized ? " Both with the thresholds that were found." : "") + " It " +
                     escape(exits_headline(f).empty() ? item_costs_sentence(f) : exits_needs_text(*f.exits));
  // The target is judged on a part of them.
  if (f.exit_target && f.exits) text += " over all " + counted(f.exits->items, f.exits->item);
  return text + ". ";
}

const char* not_passed(const std::vector<std::string>& reasons) {
  return is_inconclusive(reasons) ? "<strong class=\"bad\">Not verified</strong>: "
                                  : "<strong class=\"bad\">Verification failed</strong>: ";
}

std::string decoding_text(const std::optional<DecodedVerification>& proof) {
  if (!proof) return "Nothing was compared with the oracle.";
  return (proof->passed ? "<strong class=\"good\">Verified</strong>: " : not_passed(proof->reasons)) +
         escape(proof->passed || proof->reasons.empty() ? proof->text : proof->reasons[0]) + ".";
}

std::string lead(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  std::string text = "<strong>" + escape(f.model.name) + "</strong>";
  if (!f.model.family.empty())
    text += " (" + escape(f.model.family) + (f.model.weights.empty() ? "" : ", " + escape(weights_text(f.model))) + ")";
  if (!f.dataset.name.empty()) text += " on <strong>" + escape(f.dataset.name) + "</strong>";
  const int64_t batches = d.decoded ? d.decoded->batches : f.dataset.batches > 0 ? f.dataset.batches : d.run.batches;
  text += ": " + (are_pictures(f.dataset) ? pictures_text(f.dataset.sizes, batches) : counted(batches, "batch"));
  if (!are_pictures(f.dataset) && f.dataset.cells > 0)
    text +=
        ", " + counted(f.dataset.cells, "cell") + " (" + count(f.dataset.cells_without_padding) + " without padding)";
  if (!d.decoded && !d.imported() && d.run.batches > 0 && d.run.batches < batches)
    text += ", of which this run recorded " + counted(d.run.batches, "batch");
  text += ". ";
  if (!f.dataset.note.empty()) text += "These are " + escape(f.dataset.note) + ". ";
  if (const std::string padding = padding_text(f); !padding.empty()) text += padding + ". ";
  if (f.weight_budget) text += "With a budget of " + escape(budget_word(f.weight_budget->budget_bytes)) + ". ";
  if (d.imported()) {
    const std::string chance = chance_sentences(d);
    return text + "An imported trace: another system recorded it, nothing was run or compared here." +
           (chance.empty() ? "" : " " + chance);
  }
  if (d.decoded) return text + decoding_text(d.decoded->verified);
  if (!f.verified) return text + "This run was not compared with a reference.";
  if (!f.verified->passed)
    return text + not_passed(f.verified->reasons) +
           (f.verified->reasons.empty() ? "the largest difference is " + rough(f.verified->max_rel_diff) +
                                              " of the largest value, the tolerance " + rough(f.verified->tolerance)
                                        : escape(f.verified->reasons[0])) +
           ". No speed-up is reported.";
  text += "<strong class=\"good\">Verified</strong>: " + escape(f.verified->text) + "; the largest difference is " +
          rough(f.verified->max_rel_diff) + " of the largest value (tolerance " + rough(f.verified->tolerance) + ").";
  if (f.exit_target)
    text += " Its thresholds of exits were found for a target: " + escape(exit_target_text(*f.exit_target)) + ", " +
            escape(held_out_text(*f.exit_target)) + "; " + escape(judged_by_quality_text()) + ".";
  if (const std::string measured = measured_text(f); run_kind(f.verb) == RunKind::optimize && !measured.empty()) {
    text += " " + std::string(1, static_cast<char>(std::toupper(measured[0]))) + measured.substr(1) + ".";
  }
  if (f.speedup_ci95 && speed_verdict(f) == SpeedVerdict::not_measurable)
    text += " The 95 % interval of the speed-up, " + interval(f.speedup_ci95) +
            ", contains 1: on this machine, at this time, neither a gain nor a loss was found.";
  return text;
}

std::string tile(const std::string& term, const std::string& value, const std::string& more) {
  return "<div><dt>" + term + "</dt><dd>" + value + (more.empty() ? "" : "<small>" + more + "</small>") +
         "</dd></div>\n";
}

/// The plan that the page is about.
const std::optional<PlanFigures>& shown_plan(const ReportData& d) {
  return d.figures.optimized && d.trusted() ? d.figures.optimized : d.figures.baseline;
}

/// Replaces the tile of the figure.
std::string withheld_tile(const std::string& term, const SpeedupWithheld& why, const RunSummaryFigures& f) {
  return tile(term, kNotMeasured, to_text(why) + "; " + std::string(what_to_do(why, measuring_end(f))));
}

/// The gain of thresholds and passes together.
std::string over_model_tile(const ReportData& d) {
  constexpr const char* kTerm = "Speed-up over the model as it came";
  if (!d.trusted() || !d.figures.exit_target) return {};
  const ExitTarget& t = *d.figures.exit_target;
  if (!t.speedup_over_model)
    return t.over_model_withheld ? withheld_tile(kTerm, *t.over_model_withheld, d.figures) : std::string();
  std::string more = "with its own thresholds; 95 % interval " + interval(t.speedup_over_model_ci95);
  for (const std::string& taken : exits_taken_text(t)) more += "; " + escape(taken);
  return tile(kTerm, times(*t.speedup_over_model), more);
}

std::string speedup_tile(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (d.trusted() && f.withheld) return withheld_tile(f.exit_target ? "By passes alone" : "Speed-up", *f.withheld, f);
  if (!d.trusted() || !f.speedup) return {};
  const bool same = speed_verdict(f) == SpeedVerdict::not_measurable;
  return tile(f.exit_target ? "By passes alone, measured" : "Speed-up, measured",
              same ? "not measurable" : times(*f.speedup),
              (same ? times(*f.speedup) + ", " : "") + "95 % interval " + interval(f.speedup_ci95) + ", " +
                  speedup_basis_text(f));
}

std::string decoding_tiles(const ReportData& d) {
  if (!d.decoded) return {};
  const GenerateFigures& g = *d.decoded;
  return tile("Tokens a second", number(g.tokens_per_s), "every batch once") +
         tile("Generated", count(g.tokens),
              noun_for(g.tokens, "token") + " for " + counted(g.sequences, "sequence") + "; " + count(g.stopped_eos) +
                  " ended by themselves, " + count(g.stopped_length) + " at the limit") +
         tile("A batch", milliseconds(typical_milliseconds(g.latency_ms)),
              std::string(typical_name(g.latency_ms)) + " of " + count(g.latency_ms.runs) + "; 95th percentile " +
                  milliseconds(g.latency_ms.p95) + ", fastest " + milliseconds(g.latency_ms.min)) +
         (g.accuracy ? tile("Exact", percent(*g.accuracy), "of the sequences equal their target") : "");
}

std::string plan_tiles(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  const auto plan_tile = [](const char* term, const std::optional<PlanFigures>& p, const std::string& beside = {}) {
    return p ? tile(term, milliseconds(typical_milliseconds(p->latency_ms)),
                    std::string(typical_name(p->latency_ms)) + " of " + counted(p->latency_ms.runs, "execution") +
                        beside)
             : std::string();
  };
  const std::string pairs = f.dense_baseline_ms ? "; the baseline in the same pairs " +
                                                      milliseconds(typical_milliseconds(*f.dense_baseline_ms))
                                                : std::string();
  const std::string remark = no_ratio_text(f).empty() ? std::string() : "; " + no_ratio_text(f);
  return plan_tile("Dense, a batch", f.dense, pairs) +
         plan_tile(f.optimized ? "Baseline, a batch" : "A batch", f.baseline, remark) +
         (d.trusted() || !f.baseline ? plan_tile("Optimised, a batch", f.optimized, remark) : "");
}

std::string quality_tile_value(const QualityFigures& q, const PlanQuality& plan) {
  return is_judged(plan) ? quality_value_text(q.unit, plan.value) : plan_quality_text(q, plan);
}

std::string quality_tile(const ReportData& d) {
  if (!d.figures.quality) return {};
  const QualityFigures& q = *d.figures.quality;
  const bool after = q.optimized && (d.trusted() || !q.baseline);
  const auto& shown = after ? q.optimized : q.baseline;
  if (!shown) return {};
  const std::string classes = quality_classes_text(q, after ? &GroupQuality::optimized : &GroupQuality::baseline);
  return tile(
      escape(quality_title(q)) + (after && q.baseline ? ", optimised" : ""), escape(quality_tile_value(q, *shown)),
      escape(quality_sentence(q, *shown)) + (classes.empty() ? "" : "; " + escape(classes)) +
          (after && q.baseline ? "; baseline " + escape(quality_tile_value(q, *q.baseline)) : "") +
          (d.figures.exit_target
               ? (after && q.baseline ? "; both " : "; ") + escape(found_thresholds_text(*d.figures.exit_target))
               : ""));
}

std::string spent_tiles(const ReportData& d) {
  std::string tiles;
  for (const FigureTile& t : item_costs_tiles(d.figures))
    tiles += tile(escape(t.title), escape(t.value), escape(t.more));
  return tiles;
}

/// Share of the machine's limit that the shown plan reaches.
std::string limit_tile(const ReportData& d) {
  const auto& plan = shown_plan(d);
  if (!plan || !plan->limit_share) return {};
  return is_in_cache(*plan->limit_share)
             ? tile("Share of the limit", kInCache, escape(kInCacheReason))
             : tile("Share of the limit", percent(*plan->limit_share), "of what the machine could do at most");
}

std::string weight_tiles(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  const auto& plan = shown_plan(d);
  const std::optional<WeightsRead> read = d.decoded ? d.decoded->weights_read
                                          : plan    ? plan->weights_read
                                                    : std::nullopt;
  std::string tiles;
  if (read)
    tiles += tile("Waits for weights", percent(read->stall_share),
                  "of its time, under a budget of " + bytes(f.weight_budget ? f.weight_budget->budget_bytes : 0));
  if (f.unloaded_weight_bytes > 0)
    tiles += tile("Weights not needed", bytes(f.unloaded_weight_bytes), "by this plan on these data");
  return tiles;
}

std::string tiles_of(const ReportData& d) {
  return over_model_tile(d) + speedup_tile(d) + decoding_tiles(d) + plan_tiles(d) + quality_tile(d) + spent_tiles(d) +
         limit_tile(d) + weight_tiles(d);
}

std::string times_of(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (!shown_plan(d) && !f.optimized) return {};
  Table table("Latency and throughput, measured", {"plan", "mean", "median", "95th percentile", "fastest",
                                                   "executions measured", rate_name(f), "share of the limit"});
  const auto line = [&](const char* name, const std::optional<PlanFigures>& p) {
    if (p)
      table.row({name, p->latency_ms.mean > 0 ? milliseconds(p->latency_ms.mean) : "–",
                 milliseconds(p->latency_ms.median), milliseconds(p->latency_ms.p95), milliseconds(p->latency_ms.min),
                 count(p->latency_ms.runs),
                 p->cells_per_s < 100 ? number(p->cells_per_s) : count(std::llround(p->cells_per_s)),
                 !p->limit_share                ? "–"
                 : is_in_cache(*p->limit_share) ? kInCache
                                                : percent(*p->limit_share)});
  };
  line("baseline", f.baseline);
  if (d.trusted() || !f.baseline) line("optimised", f.optimized);
  std::string html = table.details();
  if (const std::string dense = dense_text(f); !dense.empty())
    html += paragraph(
        "Beside them, in executions of their own, " + escape(dense) + ". Never what a speed-up is against.", "note");
  if (const std::string measured = measured_text(f); !measured.empty())
    html += paragraph(
        "Times: " + measured +
            (f.baseline && f.optimized ? ". The speed-up is of the time of all batches, the plan run beside the "
                                         "baseline on the same batch; the means are those of the same executions."
                                       : "."),
        "note");
  return html;
}

}  // namespace

std::string headline(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  std::string html = "<header>\n" +
                     paragraph("Stormcell " + escape(f.verb) + (says_decoding(f.phase, f.verb) ? ", decoding" : "") +
                                   " · " + escape(d.run.started.substr(0, 10)) + " · " + escape(d.origin.device),
                               "kicker") +
                     "<h1>" + title(d) + "</h1>\n" + paragraph(beside_title(d) + lead(d), "lead");
  if (const std::string tiles = tiles_of(d); !tiles.empty()) html += "<dl class=\"tiles\">\n" + tiles + "</dl>\n";
  for (const std::string& w : f.warnings) html += paragraph("Warning: " + escape(w), "note");
  return html + times_of(d) + "</header>\n";
}

}  // namespace stormcell::report
