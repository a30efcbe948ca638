#include "app/cli/session_text.h"

#include <optional>

#include "app/cli/numbers_text.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/budget_text.h"
#include "core/summary/sheet_text.h"
#include "core/summary/weights_text.h"

namespace stormcell::cli {

namespace {

/// How many runs there are, what the newest one found, and where to look at it.
std::vector<std::string> session_conclusions(const SessionRuns& list) {
  std::vector<std::string> sentences = {
      list.file + " holds " + counted(std::ssize(list.runs), "run") +
      (list.placements.empty() ? "" : " and " + counted(std::ssize(list.placements), "placement")) +
      (list.model.empty() ? "" : " of " + list.model) + "."};
  if (list.runs.empty()) return sentences;
  const SessionRunLine& newest = list.runs.back();
  const std::string run = list.file + "#" + std::to_string(newest.id);
  std::string sentence = "The newest run, #" + std::to_string(newest.id) + " (" + newest.kind + "), is " +
                         std::string(to_text(newest.status)) + " after " + counted(newest.batches, "batch");
  if (newest.speedup) sentence += ", " + number_text(*newest.speedup) + " times as fast as the model as it came";
  if (newest.verified) sentence += *newest.verified ? ", verified" : ", not verified";
  sentences.push_back(sentence + ".");
  sentences.push_back(newest.figures ? next_command({"report", run, "-o", "report.html"})
                                     : next_command({"analyze", run}));
  return sentences;
}

std::string session_details(const SessionRuns& list) {
  std::string text = list.file + ": " + bytes_text(list.bytes) + ", begun " + list.created + " by Stormcell " +
                     list.program + ", schema " + std::to_string(list.schema) +
                     (list.checked ? "; all of it was read: no damage" : "") + "\n";
  text += "model  " + list.model + (list.family.empty() ? "" : ", " + list.family) +
          (list.parameters > 0 ? ", " + parameters_text(list.parameters) + ", " + stored_text(list.weight_bytes) : "") +
          (list.weights.empty() ? "" : ", " + weights_text(list.weights, list.weights_stated)) +
          (list.fingerprint.empty() ? "" : ", fingerprint " + list.fingerprint.substr(0, 12)) + "\n\n";
  Rows rows = {{"run", "kind", "", "batches", "began", "baseline", "optimised", "speed-up", "verified", "passes"}},
       about;
  const auto given = [](const std::optional<double>& ms) { return ms ? milliseconds_text(*ms) : std::string("-"); };
  for (const SessionRunLine& run : list.runs) {
    const std::string number = "#" + std::to_string(run.id);
    rows.push_back(
        {number,
         run.kind + (says_decoding(run.phase, run.kind) ? ", decode" : "") + (run.name.empty() ? "" : " " + run.name),
         std::string(to_text(run.status)), count_text(run.batches), run.started, given(run.baseline_ms),
         given(run.optimized_ms),
         run.speedup_withheld
             ? std::string(kNotMeasured)
             : ratio_text(run.speedup, run.speedup_ci95) + (run.speedup && !run.knows_spread ? " measured once" : ""),
         !run.verified   ? "-"
         : *run.verified ? "yes"
                         : "NO",
         !run.passes.empty() ? joined(names_of_passes(run.passes))
         : run.figures       ? ""
                             : "recording"});
    std::string on = (run.data.empty() ? std::string("data not known") : run.data) + ", " +
                     (run.sizes.empty() ? counted(run.sequences, "sequence") : run.items);
    if (!run.machine.empty()) on += "; " + run.machine + (run.threads > 0 ? ", " + counted(run.threads, "thread") : "");
    if (run.weight_budget > 0) on += "; " + budget_word(run.weight_budget);
    about.push_back({number, on});
    if (run.speedup_withheld) about.push_back({"", "speed-up " + not_measured_text(*run.speedup_withheld)});
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

}  // namespace

Page page_of(const SessionRuns& list) { return {session_conclusions(list), session_details(list)}; }

}  // namespace stormcell::cli
