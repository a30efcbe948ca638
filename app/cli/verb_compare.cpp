#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cmath>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/comparison/compare.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {
namespace {

// Differences from the oracle are rounding: their second digit says nothing any more, but their counts are whole.
std::string figure_text(const std::string& figure, const std::optional<double>& value) {
  if (!value) return "-";
  return number_text(*value, figure.starts_with("verified.") && std::fabs(*value) < 1 ? 2 : 5);
}

// What the short table leaves out: figures of single operators and of the machine, counts of repetitions, and of the verification what is
// no verdict.
bool is_detail(const std::string& figure) {
  constexpr std::array kVerdicts = {"verified.passed", "verified.max_rel_diff", "verified.flips", "verified.explained_flips",
                                    "verified.dropped"};
  if (figure.starts_with("verified.")) return std::find(kVerdicts.begin(), kVerdicts.end(), figure) == kVerdicts.end();
  if (figure.starts_with("weight_budget.")) return !figure.ends_with(".budget_bytes") && !figure.ends_with(".held_bytes");
  return figure.starts_with("operators.") || figure.starts_with("device.") || figure.ends_with(".runs") || figure.ends_with(".rounds") ||
         figure.ends_with("_batches") || figure.ends_with("seconds");
}

/// Shown where it stands in one run only, too: what one run read, the other did not have to.
bool is_of_budget(const std::string& figure) {
  return figure == "weight_budget.budget_bytes" || (figure.find("weights_read.") != std::string::npos && !figure.ends_with(".executions"));
}

std::string meaning_text(const ComparedFigure& row) {
  if (!row.a || !row.b) return "only in one";
  if (!row.difference) return "not comparable";
  if (row.between_runs && !*row.between_runs) return "spread between runs not known";
  if (row.ci95) return *row.significant ? "significant" : "not significant";
  return row.significant ? *row.significant ? "differs" : "" : "measured, without interval";
}

std::string comparison_text(const Comparison& comparison, bool verbose) {
  std::vector<std::vector<std::string>> rows = {{"figure", "a", "b", "difference", "95 % interval", ""}};
  int64_t equal = 0, left_out = 0;
  for (const ComparedFigure& r : comparison.rows) {
    const bool same = r.a == r.b;
    equal += same;
    if (!verbose && (same || (!r.difference && !is_of_budget(r.figure)) || is_detail(r.figure))) {
      left_out += !same;
      continue;
    }
    rows.push_back({r.figure, figure_text(r.figure, r.a), figure_text(r.figure, r.b),
                    r.difference ? (*r.difference > 0 ? "+" : "") + figure_text(r.figure, r.difference) : "-",
                    r.ci95 ? number_text((*r.ci95)[0]) + " to " + number_text((*r.ci95)[1]) : "-", meaning_text(r)});
  }
  std::string text = "a  " + comparison.a + "\nb  " + comparison.b + "\n\n";
  if (rows.size() > 1) text += table_text(rows, {1, 2, 3, 4}) + "\n";
  text += counted(equal, "figure is equal", "figures are equal");
  if (left_out > 0)
    text += ", " + counted(left_out, "is a detail, not comparable or in one run only", "are details, not comparable or in one run only") +
            ": --verbose and --json show all";
  text += "\n";
  if (comparison.routing.empty()) return text;
  std::vector<std::vector<std::string>> distances = {{"routing of", "total variation", "Jensen-Shannon"}};
  for (const RoutingDistance& d : comparison.routing)
    if (verbose || d.total_variation > 0)
      distances.push_back({d.router, number_text(d.total_variation), number_text(d.jensen_shannon_bits) + " bit"});
  if (distances.size() == 1) return text + "\nevery branch gets the same share of cells in both runs\n";
  return text + "\n" + table_text(distances, {1, 2}) +
         "distances between the shares of the branches: 0: the same shares; total variation 1: no branch in common\n";
}

class CompareVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", a_, "a session (S.storm, S.storm#3) or a file that --json wrote");
    add_argument(app, "B", b_, "the same");
    app.add_option("--fail-if", conditions_,
                   "exit 1 where it holds for B: 'speedup<0.95', 'speedup_ci95[0]<1', 'verified.passed==false', "
                   "'optimized.latency_ms.median>1.05*a'")
        ->type_name("CONDITION")
        ->allow_extra_args(false);
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    std::vector<FailCondition> conditions;
    for (const std::string& text : conditions_) conditions.push_back(parse_fail_condition(text));
    TextOutput json(json_);
    if (json.is_standard_output()) console.take_standard_output();
    const Comparison comparison = compare_runs(a_, b_);
    std::vector<FailVerdict> verdicts;
    for (const FailCondition& c : conditions) verdicts.push_back(judge(c, comparison));
    for (const std::string& w : comparison.warnings) console.warning(w);
    json.write(to_json(comparison));
    json.finish();
    console.print(comparison_text(comparison, console.options().verbose));
    std::string reasons;
    for (const FailVerdict& v : verdicts)
      if (v.fails) add_to_list(reasons, v.reason, "; ");
    if (!reasons.empty()) failed("--fail-if", reasons, "what was asked to fail");
    return 0;
  }

 private:
  std::string a_, b_, json_;
  std::vector<std::string> conditions_;
};

}  // namespace

std::unique_ptr<Verb> make_compare() { return std::make_unique<CompareVerb>(); }

}  // namespace stormcell::cli
