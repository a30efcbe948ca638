#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/compare_text.h"
#include "app/cli/options.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/comparison/compare.h"
#include "core/comparison/withheld_figures.h"
#include "core/exports/text_output.h"
#include "core/summary/withheld.h"

namespace stormcell::cli {
namespace {

class CompareVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", a_, "Names a session (S.storm, S.storm#3) or a file that --json wrote.");
    add_argument(app, "B", b_, "Names another one, which is judged beside A.");
    app.add_option("MORE", more_, "Names further ones, up to 14, each judged beside A.")->type_name("");
    app.add_option("--fail-if", conditions_,
                   "Ends with exit code 1 if the condition holds for B or any further run, such as 'speedup<0.95', "
                   "'speedup_ci95[0]<1', 'verified.passed==false' or 'optimized.latency_ms.median>1.05*a' (default: "
                   "none).")
        ->type_name("CONDITION")
        ->allow_extra_args(false);
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    std::vector<FailCondition> conditions;
    for (const std::string& text : conditions_) conditions.push_back(parse_fail_condition(text));
    std::vector<std::string> others = {b_};
    others.insert(others.end(), more_.begin(), more_.end());
    TextOutput json(json_);
    if (json.is_standard_output()) console.take_standard_output();
    const std::vector<Comparison> runs = compare_with_first(a_, others);
    std::string reasons;
    for (const Comparison& run : runs)
      for (const FailCondition& c : conditions)
        if (const FailVerdict v = judge(c, run); v.fails)
          add_to_list(reasons, (runs.size() > 1 ? run.b + ": " : "") + v.reason, "; ");
    for (const Comparison& run : runs) warn_of(run, runs.size() > 1, console);
    json.write(to_json(runs));
    json.finish();
    const ShownFigures shown = console.options().all       ? ShownFigures::all
                               : console.options().verbose ? ShownFigures::details
                                                           : ShownFigures::short_table;
    console.show(comparisons_page(runs, shown));
    if (!reasons.empty())
      failed("--fail-if", reasons,
             runs.size() > 1 ? "look for the cause in that run, or ask for another figure"
                             : "look for the cause in B, or ask for another figure");
    return 0;
  }

 private:
  /// `several`: a warning says whose it is.
  static void warn_of(const Comparison& run, bool several, Console& console) {
    for (const std::string& w : run.warnings) console.warning((several ? run.b + ": " : "") + w);
    for (size_t side = 0; side < 2; ++side)
      if (const std::string why = why_withheld("speedup", run.withheld[side]); !why.empty())
        console.warning((side == 0 ? run.a : run.b) + ": the speed-up was " + kNotMeasured + ": " + why);
  }

  std::string a_, b_, json_;
  std::vector<std::string> more_, conditions_;
};

}  // namespace

std::unique_ptr<Verb> make_compare() { return std::make_unique<CompareVerb>(); }

}  // namespace stormcell::cli
