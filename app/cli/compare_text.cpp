#include "app/cli/compare_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/comparison/figure_rows.h"
#include "core/comparison/withheld_figures.h"
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
  const Better better = c.judges() ? figure_of(r.figure).better : Better::neither;
  const bool worse = better != Better::neither && (*r.difference < 0) != (better == Better::less);
  if (r.significant) return !*r.significant ? 5 : worse ? 0 : better == Better::neither ? 2 : 4;
  return worse ? 1 : 3;
}
double relative(const ComparedFigure& r) { return r.difference && *r.a != 0 ? std::fabs(*r.difference / *r.a) : 0; }

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
FigureRows figure_rows(const Comparison& comparison, ShownFigures shown) {
  FigureRows table;
  std::vector<std::pair<int, const ComparedFigure*>> order;  // with their ranks
  for (const ComparedFigure& r : comparison.rows) {
    const bool withheld = is_withheld(r, comparison);
    const bool neither = !r.a && !r.b && !withheld;  // null in B, and A has no value: nothing is equal
    const bool same = r.difference == 0.0;
    table.equal += same;
    if (shown == ShownFigures::short_table &&
        (same || (!r.difference && !is_of_budget(r.figure) && !withheld) || is_detail(r.figure))) {
      table.left_out += !same && !neither;
      continue;
    }
    order.emplace_back(rank(r, comparison), &r);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) {
    return x.first != y.first ? x.first < y.first : relative(*x.second) > relative(*y.second);
  });
  for (const auto& [of, r] : order)
    table.rows.push_back({name_text(r->figure), figure_text(r->figure, r->a), figure_text(r->figure, r->b),
                          r->difference ? (*r->difference > 0 ? "+" : "") + figure_text(r->figure, r->difference) : "-",
                          r->ci95 ? number_text((*r->ci95)[0]) + " to " + number_text((*r->ci95)[1]) : "-",
                          is_withheld(*r, comparison) ? kNotMeasured : meaning_text(*r)});
  return table;
}

/// Routers by the distance between their routings, the largest first.
std::vector<Row> distance_rows(const Comparison& comparison, ShownFigures shown) {
  std::vector<RoutingDistance> distances = comparison.routing;
  std::stable_sort(distances.begin(), distances.end(),
                   [](const auto& x, const auto& y) { return x.total_variation > y.total_variation; });
  std::vector<Row> rows;
  for (const RoutingDistance& d : distances)
    if (shown != ShownFigures::short_table || d.total_variation > 0)
      rows.push_back({d.router, number_text(d.total_variation), number_text(d.jensen_shannon_bits) + " bit"});
  return rows;
}

std::string table_below(Row head, std::vector<Row> rows, const std::vector<size_t>& right) {
  rows.insert(rows.begin(), std::move(head));
  return table_text(rows, right);
}

std::string comparison_text(const Comparison& comparison, ShownFigures shown) {
  constexpr size_t kAround = 11;    // lines of both tables that are not rows
  constexpr size_t kOfRouting = 8;  // routers that are shown always
  FigureRows figures = figure_rows(comparison, shown);
  std::vector<Row> distances = distance_rows(comparison, shown);
  int64_t more = 0;
  if (shown != ShownFigures::all) {
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

/// A run beside A, in one row: figures beyond chance, and the worst of them.
struct BesideFirst {
  int64_t worse = 0, better = 0, equal = 0;
  const ComparedFigure* worst = nullptr;
  const RoutingDistance* farthest = nullptr;
};
BesideFirst beside_first(const Comparison& c) {
  BesideFirst run;
  for (const ComparedFigure& r : c.rows) {
    run.equal += r.difference == 0.0;
    if (!r.difference || *r.difference == 0 || !r.comparable || !r.significant || !*r.significant) continue;
    const int place = rank(r, c);
    run.worse += place == 0, run.better += place == 4;
    if (place == 0 && (!run.worst || relative(r) > relative(*run.worst))) run.worst = &r;
  }
  for (const RoutingDistance& d : c.routing)
    if (!run.farthest || d.total_variation > run.farthest->total_variation) run.farthest = &d;
  return run;
}

/// "a" to "p".
std::string letter_of(size_t run) { return std::string(1, static_cast<char>('a' + run)); }

const ComparedFigure* row_named(const Comparison& c, const std::string& figure) {
  const auto at =
      std::find_if(c.rows.begin(), c.rows.end(), [&](const ComparedFigure& r) { return r.figure == figure; });
  return at == c.rows.end() ? nullptr : &*at;
}

/// Figures that differ in any run, those with the largest relative difference first.
std::vector<std::string> figures_that_differ(const std::vector<Comparison>& runs, ShownFigures shown) {
  std::vector<std::pair<double, std::string>> order;
  for (const Comparison& c : runs)
    for (const ComparedFigure& r : c.rows) {
      if (!r.difference || (shown == ShownFigures::short_table && (*r.difference == 0 || is_detail(r.figure))))
        continue;
      // Rows beyond chance come before all others.
      const double far = relative(r) + (r.comparable && r.significant.value_or(false) ? 1e9 : 0);
      const auto at = std::find_if(order.begin(), order.end(), [&](const auto& o) { return o.second == r.figure; });
      if (at == order.end())
        order.emplace_back(far, r.figure);
      else
        at->first = std::max(at->first, far);
    }
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<std::string> figures;
  for (auto& [far, figure] : order) figures.push_back(std::move(figure));
  return figures;
}

/// A figure of each run; * marks a difference from A beyond chance.
std::vector<Row> rows_of_runs(const std::vector<Comparison>& runs, const std::vector<std::string>& figures) {
  std::vector<Row> rows;
  for (const std::string& figure : figures) {
    std::optional<double> a;
    Row row = {name_text(figure), ""};
    for (const Comparison& c : runs) {
      const ComparedFigure* r = row_named(c, figure);
      if (r && r->a) a = r->a;
      const bool beyond = r && r->difference && *r->difference != 0 && r->comparable && r->significant.value_or(false);
      row.push_back(r ? figure_text(figure, r->b) + (beyond ? "*" : "") : "-");
    }
    row[1] = figure_text(figure, a);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Page comparison_page(const Comparison& c, ShownFigures shown) {
  return {comparison_conclusions(c), comparison_text(c, shown)};
}

Page comparisons_page(const std::vector<Comparison>& runs, ShownFigures shown) {
  if (runs.size() == 1) return comparison_page(runs[0], shown);
  Row head = {"figure", "a"};
  std::vector<Row> summary = {{"", "run", "worse", "better", "equal", "worst figure", "routing differs most"}};
  summary.push_back({"a", runs[0].a, "", "", "", "", ""});
  std::vector<size_t> right = {1};
  size_t worst = 0;
  int64_t unlike = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const BesideFirst run = beside_first(runs[i]);
    if (run.worse > beside_first(runs[worst]).worse) worst = i;
    unlike += !runs[i].judges();
    head.push_back(letter_of(i + 1)), right.push_back(i + 2);
    summary.push_back({letter_of(i + 1), runs[i].b, runs[i].judges() ? count_text(run.worse) : "-",
                       runs[i].judges() ? count_text(run.better) : "-", count_text(run.equal),
                       run.worst ? name_text(run.worst->figure) : "",
                       run.farthest ? run.farthest->router + " " + number_text(run.farthest->total_variation) : ""});
  }
  const BesideFirst most = beside_first(runs[worst]);
  std::vector<std::string> sentences = {
      most.worse > 0 ? "Beside A, " + runs[worst].b + " is worse beyond chance in most figures: " +
                           counted(most.worse, "figure") + ", first " + name_text(most.worst->figure) + "."
                     : "No run is worse than A beyond chance in any figure."};
  if (unlike > 0)
    sentences.push_back(counted(unlike, "run is", "runs are") +
                        " not of A's model, data and terms, so none of their figures is called better or worse.");
  sentences.push_back(next_command({"compare", runs[worst].a, runs[worst].b}));
  std::vector<std::string> figures = figures_that_differ(runs, shown);
  int64_t omitted = 0;
  std::vector<Row> rows = rows_of_runs(runs, figures);
  if (shown != ShownFigures::all) {
    const size_t room = kRoomOfTables - std::min(kRoomOfTables / 2, runs.size());
    rows = first_of(std::move(rows), room, omitted);
  }
  std::string text = table_text(summary, {2, 3, 4});
  if (!rows.empty())
    text += "\n" + table_below(std::move(head), std::move(rows), right) + "*: differs from a beyond chance\n";
  if (omitted > 0) text += counted(omitted, "more line differs", "more lines differ") + " less: --all shows them\n";
  return {sentences, text};
}

}  // namespace stormcell::cli
