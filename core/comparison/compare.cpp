#include "core/comparison/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/comparison/compare_chance.h"
#include "core/comparison/counted_over.h"
#include "core/comparison/figure_rows.h"
#include "core/comparison/placement_terms.h"
#include "core/comparison/run_terms.h"
#include "core/comparison/same_requests.h"
#include "core/comparison/summary_figures.h"
#include "core/comparison/timed_difference.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

/// Warns if both runs name their model and the names differ: it is then not known whether they are of one model.
void warn_where_models_differ(const SummaryFigures& a, const SummaryFigures& b, Comparison& c) {
  const std::string &x = a.model.model.name, &y = b.model.model.name;
  if (!a.model.is_named || !b.model.is_named || x == y || same_model(a.model, b.model) == SameModel::yes) return;
  c.same_model = false;
  c.warnings.push_back("the models differ: " + x + " and " + y + ", so no figure is called better or worse");
}

/// Adds warnings about data and machines that differ; true if there are any.
bool warn_where_data_differ(const SummaryFigures& a, const SummaryFigures& b, std::vector<std::string>& warnings) {
  constexpr const char* kSo = ", so times must not be compared, and no figure is called better or worse";
  const std::string x = a.text("dataset", "name"), y = b.text("dataset", "name");
  const bool others = !x.empty() && !y.empty() && x != y;
  if (others) warnings.push_back("the data differ: " + x + " and " + y + kSo);
  const auto cells_a = a.value_of.find("dataset.cells"), cells_b = b.value_of.find("dataset.cells");
  if (cells_a == a.value_of.end() || cells_b == b.value_of.end() || cells_a->second == cells_b->second) return others;
  warnings.push_back("the amounts of data differ: " + std::to_string(static_cast<int64_t>(cells_a->second)) + " and " +
                     std::to_string(static_cast<int64_t>(cells_b->second)) + " cells" + (others ? "" : kSo));
  return true;
}

/// Placements of the threads' cores while a run measured; a run of an earlier version has one reading.
std::vector<std::string> core_placements(const SummaryFigures& f) {
  std::vector<std::string> met;
  if (const auto device = f.summary->find("device"); device != f.summary->end() && device->is_object())
    if (const auto list = device->find("core_placements"); list != device->end() && list->is_array())
      for (const Json& name : *list)
        if (name.is_string()) met.push_back(name.get<std::string>());
  if (const std::string one = f.text("device", "core_placement"); met.empty() && !one.empty()) met.push_back(one);
  return met;
}
std::string all_of(const std::vector<std::string>& placements) {
  std::string text;
  for (const std::string& p : placements) text += (text.empty() ? "" : "; ") + p;
  return text;
}

void warn_where_machines_differ(const SummaryFigures& a, const SummaryFigures& b, std::vector<std::string>& warnings) {
  const std::array<std::array<const char*, 2>, 2> rows = {
      {{"name", "the processors differ, so times must not be compared"},
       {"isa", "the instruction sets in use differ, so times must not be compared"}}};
  for (const auto& [key, what] : rows) {
    const std::string x = a.text("device", key), y = b.text("device", key);
    if (!x.empty() && !y.empty() && x != y) warnings.push_back(std::string(what) + ": " + x + " and " + y);
  }
  const std::vector<std::string> x = core_placements(a), y = core_placements(b);
  if (!x.empty() && !y.empty() && std::find_first_of(x.begin(), x.end(), y.begin(), y.end()) == x.end())
    warnings.push_back("the threads ran on different cores, so times must not be compared: " + all_of(x) + " and " +
                       all_of(y));
}

/// If a run met several placements, its processors changed places while it measured, and its times and their spread are
/// of all of them.
void tell_of_changed_places(const SummaryFigures& a, const SummaryFigures& b, std::vector<std::string>& warnings) {
  for (const SummaryFigures* f : {&a, &b})
    if (const std::vector<std::string> met = core_placements(*f); met.size() > 1)
      warnings.push_back("the threads of " + f->name + " changed cores while it measured: " + all_of(met));
}

void warn_where_ceilings_differ(const SummaryFigures& a, const SummaryFigures& b, std::vector<std::string>& warnings) {
  constexpr double kFar = 1.25;
  constexpr std::array<std::array<const char*, 3>, 2> kCeilings = {
      {{"device.peak_gflops", "GFLOP/s", "arithmetic"}, {"device.read_gbps", "GB/s", "reading memory"}}};
  for (const auto& [figure, unit, what] : kCeilings) {
    const auto x = a.value_of.find(figure), y = b.value_of.find(figure);
    if (x == a.value_of.end() || y == b.value_of.end() || x->second <= 0 || y->second <= 0) continue;
    if (std::max(x->second, y->second) <= kFar * std::min(x->second, y->second)) continue;
    char text[240];
    std::snprintf(text, sizeof text,
                  "the measured ceilings of %s differ: %.3g and %.3g %s; the machine was not the same, or busy, so "
                  "times must not be compared",
                  what, x->second, y->second, unit);
    warnings.emplace_back(text);
  }
}

/// Warns if times are compared and a run was measured in one process only.
void warn_of_single_measurements(const SummaryFigures& a, const SummaryFigures& b, Comparison& c) {
  for (const SummaryFigures* f : {&a, &b}) {
    std::set<std::string> reasons;
    for (const ComparedFigure& r : c.rows)
      if (r.between_runs && !*r.between_runs && r.a != r.b) reasons.insert(why_no_spread(*f->summary, r.figure));
    reasons.erase("");
    if (!reasons.empty())
      c.warnings.push_back("the spread between runs is not known of " + f->name + " (" + *reasons.begin() +
                           "), so no difference between times is called significant");
  }
}

/// Figures of routers that include padding in only one of the two runs, for example a plan without padding and one with
/// it: they cannot be compared. The figures of real cells ("load_real") take their place.
std::set<std::string> figures_with_padding_in_one(const SummaryFigures& a, const SummaryFigures& b) {
  std::set<std::string> figures;
  const auto padding_in = [](const SummaryFigures& f, const std::string& router) {
    const auto all = f.value_of.find(router + ".cells"), real = f.value_of.find(router + ".cells_real");
    return all == f.value_of.end() || real == f.value_of.end() ? std::optional<bool>() : all->second != real->second;
  };
  for (const auto& [figure, value] : a.values) {
    constexpr std::string_view kCells = ".cells_real";
    if (!figure.starts_with("routing.") || !figure.ends_with(kCells)) continue;
    const std::string router = figure.substr(0, figure.size() - kCells.size());
    const auto in_a = padding_in(a, router), in_b = padding_in(b, router);
    if (!in_a || !in_b || *in_a == *in_b) continue;
    for (const auto& [other, count] : a.values) {
      if (!other.starts_with(router + ".")) continue;
      const std::string key = other.substr(router.size() + 1);
      if (key == "cells" || key == "imbalance" || key == "entropy" || key == "dropped" || key.starts_with("load."))
        figures.insert(other);
    }
  }
  return figures;
}

/// Shares of a router's branches by its name; empty if it has no loads.
std::map<std::string, std::vector<double>> shares_of(const Json& summary) {
  std::map<std::string, std::vector<double>> shares;
  const auto routing = summary.find("routing");
  if (routing == summary.end() || !routing->is_array()) return shares;
  for (const Json& r : *routing) {
    if (!r.is_object() || !r.contains("router") || !r["router"].is_string()) continue;
    // Padding says nothing about the data, so it is left out if it is counted separately.
    const auto load = r.contains("load_real") ? r.find("load_real") : r.find("load");
    if (load == r.end() || !load->is_array()) continue;
    std::vector<double> values;
    double sum = 0;
    for (const Json& v : *load)
      values.push_back(v.is_number() ? std::max(0.0, v.get<double>()) : 0), sum += values.back();
    if (sum <= 0) continue;
    for (double& v : values) v /= sum;
    shares[r["router"].get<std::string>()] = std::move(values);
  }
  return shares;
}

std::vector<RoutingDistance> routing_distances(const Json& a, const Json& b) {
  std::vector<RoutingDistance> distances;
  const auto of_a = shares_of(a), of_b = shares_of(b);
  for (const auto& [router, x] : of_a) {
    const auto at = of_b.find(router);
    if (at == of_b.end() || at->second.size() != x.size()) continue;
    RoutingDistance d{router};
    for (size_t i = 0; i < x.size(); ++i) {
      const double p = x[i], q = at->second[i], m = (p + q) / 2;
      d.total_variation += std::fabs(p - q) / 2;
      if (p > 0) d.jensen_shannon_bits += p * std::log2(p / m) / 2;
      if (q > 0) d.jensen_shannon_bits += q * std::log2(q / m) / 2;
    }
    distances.push_back(std::move(d));
  }
  return distances;
}

void add_interval_ends(const SummaryFigures& figures, size_t side, Comparison& c) {
  for (const auto& [figure, ends] : figures.intervals)
    for (size_t e = 0; e < 2; ++e)
      c.interval_ends[figure + kIntervalKey + "[" + std::to_string(e) + "]"][side] = ends[e];
  for (const std::string& figure : figures.null_intervals)
    for (size_t e = 0; e < 2; ++e) c.interval_ends[figure + kIntervalKey + "[" + std::to_string(e) + "]"];
}

ComparedFigure compared(const std::string& figure, const SummaryFigures& a, const SummaryFigures& b) {
  ComparedFigure row;
  row.figure = figure;
  if (const auto at = a.value_of.find(figure); at != a.value_of.end()) row.a = at->second;
  if (const auto at = b.value_of.find(figure); at != b.value_of.end()) row.b = at->second;
  if (!row.a || !row.b) return row;
  row.difference = *row.b - *row.a;
  const auto ia = a.intervals.find(figure), ib = b.intervals.find(figure);
  const Origin origin = figure_of(figure).origin;
  const bool timed = origin == Origin::measured;
  if (ia != a.intervals.end() && ib != b.intervals.end()) {
    if (timed)
      row.between_runs = why_no_spread(*a.summary, figure).empty() && why_no_spread(*b.summary, figure).empty();
    if (timed && !*row.between_runs) return row;
    row.ci95 = interval_of_difference({*row.a, ia->second}, {*row.b, ib->second}, timed ? Scale::ratios : Scale::plain);
    row.significant = (*row.ci95)[0] > 0 || (*row.ci95)[1] < 0;
  } else if (!needs_interval(origin)) {
    row.significant = *row.difference != 0;
  }
  return row;
}

/// Figures that a warning excludes are never significant, however far apart they are.
void bar(Comparison& c, const std::function<bool(const ComparedFigure&)>& excluded) {
  for (ComparedFigure& row : c.rows)
    if (excluded(row)) row.comparable = false, row.significant = {};
}
void bar_times(Comparison& c) {
  bar(c, [](const ComparedFigure& row) {
    const Figure& figure = figure_of(row.figure);
    return figure.scope == Scope::time || figure.scope == Scope::work ||
           (figure.scope == Scope::sum && figure.origin == Origin::measured);
  });
}

void point_to_diff(const SummaryFigures& a, const SummaryFigures& b, std::vector<std::string>& warnings) {
  if (of_the_same_requests(a, b))
    warnings.push_back("both are recordings of the same requests: use stormcell diff " + a.name + " " + b.name +
                       ", which compares them token by token");
}

}  // namespace

Comparison compare_runs(const std::string& name_a, const std::string& name_b) {
  const SummaryFigures a = summary_figures(name_a), b = summary_figures(name_b);
  if (a.is_placement() != b.is_placement())
    bad_input(
        name_b,
        b.is_placement() ? "is a placement, and " + name_a + " a run" : "is a run, and " + name_a + " a placement",
        "compare two runs, or two placements");
  check_like_models(a.model, b.model);
  Comparison c;
  c.withheld = {a.withheld, b.withheld};
  c.a = name_a;
  c.b = name_b;
  const std::set<std::string> padded = figures_with_padding_in_one(a, b);
  RunTerms terms = compare_terms(*a.summary, *b.summary);
  c.same_terms = terms.same_phase && terms.same_budget;
  c.warnings = std::move(terms.warnings);
  const auto apart = [&](const std::string& figure) {
    const Scope scope = figure_of(figure).scope;
    return padded.contains(figure) || scope == Scope::sum || (!terms.same_phase && scope == Scope::work);
  };
  for (const auto& [figure, value] : a.values) {
    c.rows.push_back(compared(figure, a, b));
    if (apart(figure)) c.rows.back() = {.figure = figure, .a = c.rows.back().a, .b = c.rows.back().b};
  }
  if (!padded.empty())
    c.warnings.emplace_back("only one of the two runs computed padding: loads are compared by their real cells");
  for (const auto& [figure, value] : b.values)
    if (!a.value_of.contains(figure)) c.rows.push_back(compared(figure, a, b));
  // A figure that is null in B and has no value in A. Conditions use it; there is nothing to compare.
  for (const std::string& figure : b.nulls)
    if (!a.value_of.contains(figure)) c.rows.push_back({.figure = figure});
  c.routing = routing_distances(*a.summary, *b.summary);
  add_interval_ends(a, 0, c);
  add_interval_ends(b, 1, c);
  warn_where_models_differ(a, b, c);
  point_to_diff(a, b, c.warnings);
  c.same_data = !warn_where_data_differ(a, b, c.warnings);
  mark_within_chance(a.chances, b.chances, c);
  const UnlikeCounts unlike = unlike_counts(a, b);
  c.warnings.insert(c.warnings.end(), unlike.warnings.begin(), unlike.warnings.end());
  if (!unlike.same_batches) c.same_data = false;
  bar(c, [&](const ComparedFigure& row) { return unlike.holds(row.figure); });
  if (a.is_placement()) {
    const PlacementTerms made_for = compare_placement_terms(*a.summary, *b.summary);
    c.warnings.insert(c.warnings.end(), made_for.warnings.begin(), made_for.warnings.end());
    bar(c, [&](const ComparedFigure& row) { return made_for.exclude(row.figure); });
  }
  const size_t before = c.warnings.size();
  warn_where_machines_differ(a, b, c.warnings);
  warn_where_ceilings_differ(a, b, c.warnings);
  if (!c.judges() || c.warnings.size() > before) bar_times(c);
  tell_of_changed_places(a, b, c.warnings);
  warn_of_single_measurements(a, b, c);
  return c;
}

std::vector<Comparison> compare_with_first(const std::string& first, const std::vector<std::string>& others) {
  if (others.empty()) bad_input("B", "is missing", "name another run");
  if (others.size() + 1 > kMostComparedRuns)
    bad_input("MORE", std::to_string(others.size() + 1) + " runs are named",
              "compare at most " + std::to_string(kMostComparedRuns));
  std::set<std::string> names;
  for (const std::string& name : others) {
    if (name.empty()) bad_input("MORE", "is empty", "name a session or a file that --json wrote");
    if (others.size() > 1 && (name == first || !names.insert(name).second))
      bad_input(name, "is named twice", "name each run once");
  }
  std::vector<Comparison> runs;
  for (const std::string& name : others) runs.push_back(compare_runs(first, name));
  return runs;
}

namespace {

Json json_of_rows(const std::vector<ComparedFigure>& rows) {
  Json list = Json::array();
  for (const ComparedFigure& row : rows)
    list.push_back({{"figure", row.figure},
                    {"a", or_null(row.a)},
                    {"b", or_null(row.b)},
                    {"difference", or_null(row.difference)},
                    {"ci95", or_null(row.ci95)},
                    {"significant", or_null(row.significant)},
                    {"between_runs", or_null(row.between_runs)},
                    {"comparable", row.comparable},
                    {"within_chance", or_null(row.within_chance)}});
  return list;
}

/// The figures of B beside A.
void add_comparison(const Comparison& comparison, Json& j) {
  j["rows"] = json_of_rows(comparison.rows);
  j["routing"] = Json::array();
  for (const RoutingDistance& d : comparison.routing)
    j["routing"].push_back(
        {{"router", d.router}, {"total_variation", d.total_variation}, {"jensen_shannon_bits", d.jensen_shannon_bits}});
  j["warnings"] = comparison.warnings;
  // The speed-ups of each side that were not measured well enough, by the key with the reason.
  j["withheld"] = {{"a", Json(comparison.withheld[0])}, {"b", Json(comparison.withheld[1])}};
}

Json json_of_two(const Comparison& comparison) {
  Json j = json_of_verb("compare");
  j["a"] = comparison.a;
  j["b"] = comparison.b;
  add_comparison(comparison, j);
  return j;
}

}  // namespace

std::string to_json(const Comparison& comparison) { return json_text(json_of_two(comparison)); }

std::string to_json(const std::vector<Comparison>& runs) {
  Json j = json_of_two(runs.at(0));
  if (runs.size() > 1) {
    j["runs"] = Json::array();
    for (const Comparison& run : runs) {
      Json one = {{"run", run.b}};
      add_comparison(run, one);
      j["runs"].push_back(std::move(one));
    }
  }
  return json_text(j);
}

}  // namespace stormcell
