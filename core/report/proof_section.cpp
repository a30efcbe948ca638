#include <algorithm>

#include "core/base/counted.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/items_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/placement_text.h"

namespace stormcell::report {

namespace {

std::string proof_text(const Verification& v, int64_t batches) {
  std::string text =
      std::string(v.passed ? "<strong class=\"good\">Passed.</strong> " : "<strong class=\"bad\">Failed.</strong> ") +
      escape(v.text) + "; " + escape(flips_text(v)) + ".";
  for (const std::string& reason : v.reasons) text += " <strong class=\"bad\">Failed:</strong> " + escape(reason) + ".";
  if (const std::string equality = equality_text(v, batches); !equality.empty()) text += " " + escape(equality) + ".";
  text += " The oracle is plain reference kernels";
  if (const auto& f = v.format) {
    const std::string format = escape(f->dtype);
    text += " on the weights in " + format + ", rounded by the oracle itself. What " + format +
            " costs beside the oracle on the stored weights is a figure of its own: " + rough(f->max_rel_diff) +
            " of the largest value with that oracle's routing choices (allowed: " + rough(f->tolerance) + ")";
    const std::string freely = free_cost_text(*f);
    text += (freely.empty() ? "" : ", and " + escape(freely)) + ".";
  } else {
    text += " on the stored weights.";
  }
  return paragraph(
      text +
      " Outputs are compared with the oracle's decisions replayed (the tolerance applies) and running free. Difference "
      "= max |y − oracle| ÷ max |oracle|, each output on its own scale.");
}

std::string outputs_table(const Verification& v) {
  Table table("Verification", {"", "value"});
  table.row({"passed", v.passed ? "yes" : "no"});
  if (v.exact) {
    const ExactProof& e = *v.exact;
    table.row({"equal without rounding", e.equal ? (*e.equal ? "yes" : "no") : "not known"});
    table.row({"draws without rounding", count(e.draws)});
    table.row({"branches without cells in these", count(e.branches_without_cells)});
  }
  table.row({"batches compared with the oracle", count(v.batches)});
  if (!v.parts.empty()) table.row({"of these in part", escape(parts_text(v.parts))});
  table.row({"batches compared with the baseline", count(v.baseline_batches)});
  table.row({"tolerance, of the largest value", rough(v.tolerance)});
  table.row({"largest difference, of the largest value", rough(v.max_rel_diff)});
  if (v.outputs.size() > 1)
    for (const OutputDifference& o : v.outputs)
      table.row({"of it <code>" + escape(o.name) + "</code>", rough(o.max_rel_diff)});
  table.row({"largest difference, absolute", rough(v.max_abs_diff)});
  table.row({"running free, of the largest value", rough(v.free_max_rel_diff)});
  if (const auto& f = v.format) {
    const std::string beside = escape(f->dtype) + " beside the stored format";
    table.row({beside + ", of the largest value", rough(f->max_rel_diff)});
    if (f->choices > 0) {
      table.row({beside + ", running free", rough(f->free_max_rel_diff)});
      table.row({beside + ", routing choices that differ", count(f->differing_choices) + " of " + count(f->choices)});
      if (f->sequences > 0)
        table.row(
            {beside + ", sequences with the same tokens", count(f->equal_sequences) + " of " + count(f->sequences)});
    }
  }
  table.row({"routing choices that differ", count(v.flips)});
  table.row({"of these explained by a near tie", count(v.explained_flips)});
  table.row({"consequences of these further on", count(v.consequences)});
  table.row({"cells dropped by capacity", count(v.dropped)});
  return table.html();
}

std::string flips_table(const Verification& v, const std::string& item) {
  if (v.listed.empty()) return {};
  const auto branch = [](int32_t b) { return b < 0 ? std::string("–") : std::to_string(b); };
  Table flips("Routing choices that differ, " + count(std::ssize(v.listed)) + " of them",
              {"router", "batch", item, "cell", "turn", "oracle", "ours", "margin", "score error", "why"});
  for (const Flip& f : v.listed)
    flips.row({"<code>" + escape(f.router) + "</code>" + (f.above.empty() ? "" : " below " + escape(f.above)),
               count(f.batch), f.item < 0 ? std::string("–") : count(f.item), count(f.item < 0 ? f.cell : f.position),
               f.turn < 0 ? std::string("–") : count(f.turn), branch(f.reference), branch(f.ours),
               f.follows ? "–" : number(f.margin), f.follows ? "–" : number(f.score_error),
               f.follows     ? "consequence"
               : f.explained ? "near tie"
                             : "unexplained"});
  return flips.details();
}

}  // namespace

std::string guards_section(const ReportData& d) {
  if (d.guards.empty() && d.figures.passes.empty()) return {};
  if (d.guards.empty())
    return section(
        "guards", "Guards",
        paragraph("This plan has no guards: nothing in it depends on what the profile happened to show.", "note"));
  int64_t hits = 0, misses = 0;
  Table table("Guards of the recorded run", {"guard", "held", "missed: fallback ran"});
  for (const GuardLine& g : d.guards) {
    hits += g.hits, misses += g.misses;
    table.row({"<code>" + escape(g.step) + "</code>", count(g.hits), count(g.misses)});
  }
  return section("guards", "Guards",
                 paragraph("A guard checks on every batch that what the optimisation assumed is so; where it is not, a "
                           "fallback computes "
                           "the right answer. " +
                           std::string("They missed ") + count(misses) + " of " + count(hits + misses) +
                           " times, each counted " + guards_counted(d.figures.phase) + ", over all batches.") +
                     table.html() +
                     paragraph(d.measured() + " Counted, " + counted(d.run.batches, "batch") + ".", "note"));
}

namespace {
std::string decoded_reasons(const DecodedVerification& v) {
  std::string html;
  for (const std::string& reason : v.reasons) html += paragraph("Failed: " + escape(reason) + ".", "note");
  return html;
}
}  // namespace

std::string proof_section(const ReportData& d) {
  const auto& v = d.figures.verified;
  if (!v && d.decoded && d.decoded->verified)
    return section("proof", "What was verified",
                   paragraph(escape(d.decoded->verified->text) +
                             ". The oracle is plain reference kernels, decoding greedily. Nearly equal scores flip "
                             "under rounding, and all tokens after a flip differ: a sequence is compared up to its "
                             "first token that differs, a batch whose sequences share a capacity up to the first of "
                             "any.") +
                       decoded_reasons(*d.decoded->verified));
  if (!v) return {};
  return section(
      "proof", "What was verified",
      proof_text(*v, d.figures.dataset.batches) + outputs_table(*v) + flips_table(*v, item_noun(d.figures.dataset)) +
          paragraph(
              d.measured() +
                  " Every router is asked on the oracle's inputs, with the oracle's decisions replayed. A choice may "
                  "differ only where its own margin there is below 8 times the measured score error of its router.",
              "note"));
}
std::string settings_section(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  const auto table_of = [](const char* caption, const std::vector<NamedText>& lines) {
    Table table(caption, {"", "value"}, 9);
    for (const auto& [key, value] : lines)
      table.row({"<code>" + escape(key) + "</code>", value.empty() ? "–" : shortened(value, 400)});
    return table.empty() ? std::string() : "<div class=\"settings\">" + table.html() + "</div>";
  };
  std::string machine = (d.imported() ? "Imported on: " : "The machine: ") + escape(d.origin.device);
  if (const std::string cores = placement_text(f.device); !cores.empty()) machine += ", on " + escape(cores);
  if (!f.device.isa.empty()) machine += ", " + escape(f.device.isa);
  if (f.device.peak_gflops > 0)
    machine += "; measured limits " + number(f.device.peak_gflops) + " GFLOP/s and " + number(f.device.read_gbps) +
               " GB/s read";
  const auto& [peak_before, peak_after] = f.device.peak_readings;
  const auto& [read_before, read_after] = f.device.read_readings;
  if (peak_before > 0 && peak_after > 0)
    machine += " (in the first half of measuring " + number(peak_before) + " and " + number(read_before) +
               ", in the last half " + number(peak_after) + " and " + number(read_after) + ")";
  std::string body = paragraph(machine + ".");
  if (d.settings.empty() && !d.imported()) body += paragraph("The run did not keep its settings.", "note");
  body += table_of("Exact settings", d.settings) + table_of("Machine", d.machine) + table_of("Data", d.dataset);
  const std::vector<NamedText> config = flat_json(d.run.config);
  if (!config.empty()) {
    Table table("Configuration found, for run --config", {"", "value"}, 9);
    for (const auto& [key, value] : config) table.row({"<code>" + escape(key) + "</code>", shortened(value, 400)});
    body += "<div class=\"settings\">" + table.details() + "</div>";
  }
  if (!d.origin.fingerprint.empty())
    body += paragraph(std::string(d.imported() ? "Fingerprint of the trace's model, by its name and shape: <code>"
                                               : "Fingerprint of the weights: <code>") +
                          escape(d.origin.fingerprint) + "</code>",
                      "note");
  return section("settings", "Settings and machine", body);
}

}  // namespace stormcell::report
