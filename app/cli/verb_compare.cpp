#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cmath>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/comparison/compare.h"
#include "core/comparison/figure_kinds.h"
#include "core/comparison/withheld_figures.h"
#include "core/exports/text_output.h"
#include "core/summary/withheld.h"

namespace stormcell::cli {
namespace {

// Differences from the oracle are rounding, so two digits are enough; their counts are whole.
std::string figure_text(const std::string& figure, const std::optional<double>& value) {
  if (!value) return "-";
  return number_text(*value, figure.starts_with("verified.") && std::fabs(*value) < 1 ? 2 : 5);
}

/// "layouts.joint.fit.objective (ms)".
std::string name_text(const std::string& figure) {
  const std::string_view unit = unit_of(figure);
  return unit.empty() ? figure : figure + " (" + std::string(unit) + ")";
}

// True for figures that the short table leaves out: those of single operators and of the machine, counts of
// repetitions, and all of the verification except its verdicts.
bool is_detail(const std::string& figure) {
  constexpr std::array kVerdicts = {"verified.passed", "verified.max_rel_diff", "verified.flips",
                                    "verified.explained_flips", "verified.dropped"};
  if (figure.starts_with("verified.")) return std::find(kVerdicts.begin(), kVerdicts.end(), figure) == kVerdicts.end();
  if (figure.starts_with("weight_budget."))
    return !figure.ends_with(".budget_bytes") && !figure.ends_with(".held_bytes");
  return figure.starts_with("operators.") || figure.starts_with("device.") || figure.ends_with(".runs") ||
         figure.ends_with(".rounds") || figure.ends_with("_batches") || figure.ends_with("seconds");
}

/// These are shown even if only one run has them: what one run read, the other did not have to.
bool is_of_budget(const std::string& figure) {
  return figure == "weight_budget.budget_bytes" ||
         (figure.find("weights_read.") != std::string::npos && !figure.ends_with(".executions"));
}

std::string meaning_text(const ComparedFigure& row) {
  if (!row.a && !row.b) return "in neither";
  if (!row.a || !row.b) return row.a ? "only in a" : "only in b";
  if (!row.difference) return "not comparable";
  if (!row.comparable) return "must not be compared";
  if (row.between_runs && !*row.between_runs) return "spread between runs not known";
  if (row.ci95) return *row.significant ? "significant" : "not significant";
  if (row.within_chance == true && *row.difference != 0) return "within chance";
  return row.significant ? *row.significant ? "differs" : "" : "measured, without interval";
}

/// The order of the rows: worse figures first; figures that may be chance or cannot be compared last.
int rank(const ComparedFigure& r, const Comparison& c) {
  if (!r.difference || !r.comparable) return 6;
  if (*r.difference == 0) return 7;
  const Better better = c.judges() ? better_of(r.figure) : Better::neither;
  const bool worse = better != Better::neither && (*r.difference < 0) != (better == Better::less);
  if (r.significant) return !*r.significant ? 5 : worse ? 0 : better == Better::neither ? 2 : 4;
  return worse ? 1 : 3;
}
double relative(const ComparedFigure& r) { return r.difference && *r.a != 0 ? std::fabs(*r.difference / *r.a) : 0; }

/// The amount shown: everything, or the rows that differ most, so that both tables have room on a page.
enum class Shown : uint8_t { short_table, details, all };
constexpr size_t kRoomOfTables = 40;

using Row = std::vector<std::string>;

/// The first rows, as many as there is room for; `omitted` counts the others.
std::vector<Row> first_of(std::vector<Row> rows, size_t room, int64_t& omitted) {
  if (rows.size() <= room) return rows;
  omitted += static_cast<int64_t>(rows.size() - room);
  rows.resize(room);
  return rows;
}

bool is_withheld(const ComparedFigure& row, const Comparison& c) {
  return (!row.a && !why_withheld(row.figure, c.withheld[0]).empty()) ||
         (!row.b && !why_withheld(row.figure, c.withheld[1]).empty());
}

struct FigureRows {
  std::vector<Row> rows;
  int64_t equal = 0, left_out = 0;
};
FigureRows figure_rows(const Comparison& comparison, Shown shown) {
  FigureRows table;
  std::vector<const ComparedFigure*> order;
  for (const ComparedFigure& r : comparison.rows) {
    const bool withheld = is_withheld(r, comparison);
    const bool neither = !r.a && !r.b && !withheld;  // null in B, and A has no value: nothing is equal
    const bool same = r.difference == 0.0;
    table.equal += same;
    if (shown == Shown::short_table &&
        (same || (!r.difference && !is_of_budget(r.figure) && !withheld) || is_detail(r.figure))) {
      table.left_out += !same && !neither;
      continue;
    }
    order.push_back(&r);
  }
  std::stable_sort(order.begin(), order.end(), [&](const ComparedFigure* x, const ComparedFigure* y) {
    const int of_x = rank(*x, comparison), of_y = rank(*y, comparison);
    return of_x != of_y ? of_x < of_y : relative(*x) > relative(*y);
  });
  for (const ComparedFigure* r : order)
    table.rows.push_back({name_text(r->figure), figure_text(r->figure, r->a), figure_text(r->figure, r->b),
                          r->difference ? (*r->difference > 0 ? "+" : "") + figure_text(r->figure, r->difference) : "-",
                          r->ci95 ? number_text((*r->ci95)[0]) + " to " + number_text((*r->ci95)[1]) : "-",
                          is_withheld(*r, comparison) ? kNotMeasured : meaning_text(*r)});
  return table;
}

/// Routers by the distance between their routings, the largest first.
std::vector<Row> distance_rows(const Comparison& comparison, Shown shown) {
  std::vector<RoutingDistance> distances = comparison.routing;
  std::stable_sort(distances.begin(), distances.end(),
                   [](const auto& x, const auto& y) { return x.total_variation > y.total_variation; });
  std::vector<Row> rows;
  for (const RoutingDistance& d : distances)
    if (shown != Shown::short_table || d.total_variation > 0)
      rows.push_back({d.router, number_text(d.total_variation), number_text(d.jensen_shannon_bits) + " bit"});
  return rows;
}

std::string table_below(Row head, std::vector<Row> rows, const std::vector<size_t>& right) {
  rows.insert(rows.begin(), std::move(head));
  return table_text(rows, right);
}

std::string comparison_text(const Comparison& comparison, Shown shown) {
  constexpr size_t kAround = 11;    // lines of both tables that are not rows
  constexpr size_t kOfRouting = 8;  // routers that are shown always
  FigureRows figures = figure_rows(comparison, shown);
  std::vector<Row> distances = distance_rows(comparison, shown);
  int64_t more = 0;
  if (shown != Shown::all) {
    const size_t room = kRoomOfTables - kAround,
                 of_routing =
                     std::min(distances.size(), std::max(kOfRouting, room - std::min(room, figures.rows.size())));
    figures.rows = first_of(std::move(figures.rows), room - of_routing, more);
    distances = first_of(std::move(distances), of_routing, more);
  }
  std::string text = "a  " + comparison.a + "\nb  " + comparison.b + "\n\n";
  if (!figures.rows.empty())
    text +=
        table_below({"figure", "a", "b", "difference", "95 % interval", ""}, std::move(figures.rows), {1, 2, 3, 4}) +
        "\n";
  text += counted(figures.equal, "figure is equal", "figures are equal");
  if (figures.left_out > 0)
    text += ", " +
            counted(figures.left_out, "is a detail, not comparable or in one run only",
                    "are details, not comparable or in one run only") +
            ": --all and --json show them";
  text += "\n";
  if (more > 0) text += counted(more, "more line differs", "more lines differ") + " less: --all shows them\n";
  if (comparison.routing.empty()) return text;
  if (distances.empty()) return text + "\nevery branch gets the same share of cells in both runs\n";
  return text + "\n" + table_below({"routing of", "total variation", "Jensen-Shannon"}, std::move(distances), {1, 2}) +
         "distances between the shares of the branches: 0: the same shares; total variation 1: no branch in common\n";
}

/// Worse and better figures beyond chance, the worst one, where the routing differs, and the next command.
std::vector<std::string> comparison_conclusions(const Comparison& c) {
  int64_t worse = 0, better = 0, equal = 0;
  const ComparedFigure* worst = nullptr;
  for (const ComparedFigure& r : c.rows) {
    equal += r.difference == 0.0;
    if (!r.difference || *r.difference == 0 || !r.comparable || !r.significant || !*r.significant) continue;
    const int place = rank(r, c);
    worse += place == 0, better += place == 4;
    if (place == 0 && (!worst || relative(r) > relative(*worst))) worst = &r;
  }
  const std::string of = counted(std::ssize(c.rows), "figure"),
                    equals = count_text(equal) + (equal == 1 ? " is" : " are") + " equal.";
  std::vector<std::string> sentences = {c.judges()
                                            ? "B is worse than A beyond chance in " + count_text(worse) + " of " + of +
                                                  " and better in " + count_text(better) + "; " + equals
                                            : "The two runs are not of the same model, data and terms, so none of " +
                                                  of + " is called better or worse; " + equals};
  if (worst)
    sentences.push_back("The worst is " + name_text(worst->figure) + ", from " + figure_text(worst->figure, worst->a) +
                        " to " + figure_text(worst->figure, worst->b) + ".");
  const auto farthest = std::max_element(
      c.routing.begin(), c.routing.end(),
      [](const RoutingDistance& x, const RoutingDistance& y) { return x.total_variation < y.total_variation; });
  if (farthest != c.routing.end())
    sentences.push_back(farthest->total_variation > 0
                            ? "The routing differs most at " + farthest->router + ", by a total variation of " +
                                  number_text(farthest->total_variation) + "."
                            : "Every branch gets the same share of cells in both runs.");
  sentences.push_back(next_command({"compare", c.a, c.b, "--all"}));
  return sentences;
}

class CompareVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", a_, "Names a session (S.storm, S.storm#3) or a file that --json wrote.");
    add_argument(app, "B", b_, "Names another one, which is judged beside A.");
    app.add_option("--fail-if", conditions_,
                   "Ends with exit code 1 if the condition holds for B, such as 'speedup<0.95', 'speedup_ci95[0]<1', "
                   "'verified.passed==false' or 'optimized.latency_ms.median>1.05*a' (default: none).")
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
    for (size_t side = 0; side < 2; ++side)
      if (const std::string why = why_withheld("speedup", comparison.withheld[side]); !why.empty())
        console.warning((side == 0 ? comparison.a : comparison.b) + ": the speed-up was " + kNotMeasured + ": " + why);
    json.write(to_json(comparison));
    json.finish();
    const Shown shown = console.options().all       ? Shown::all
                        : console.options().verbose ? Shown::details
                                                    : Shown::short_table;
    console.show({comparison_conclusions(comparison), comparison_text(comparison, shown)});
    std::string reasons;
    for (const FailVerdict& v : verdicts)
      if (v.fails) add_to_list(reasons, v.reason, "; ");
    if (!reasons.empty()) failed("--fail-if", reasons, "look for the cause in B, or ask for another figure");
    return 0;
  }

 private:
  std::string a_, b_, json_;
  std::vector<std::string> conditions_;
};

}  // namespace

std::unique_ptr<Verb> make_compare() { return std::make_unique<CompareVerb>(); }

}  // namespace stormcell::cli
