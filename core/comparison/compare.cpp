#include "core/comparison/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"
#include "core/comparison/analyze.h"
#include "core/comparison/run_terms.h"
#include "core/comparison/timed_difference.h"
#include "core/comparison/withheld_figures.h"
#include "core/exports/text_output.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_file.h"
#include "core/readings/same_model.h"
#include "core/readings/session_lookup.h"
#include "core/readings/session_runs.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

// Not figures of the run: what was asked for, and the wording.
constexpr std::array kLeftOut = {"schema", "version", "config", "settings", "session", "session_run", "warnings", "outputs", "origin"};
// What identifies the members of a list.
constexpr std::array kNames = {"name", "router", "op"};
// Measured by the clock, or counted in pages of a process: without an interval nothing tells whether a difference means anything.
constexpr std::array<std::string_view, 18> kMeasured = {"_ms",
                                                        "_per_s",
                                                        "ms_per_batch",
                                                        "seconds",
                                                        "speedup",
                                                        "limit_share",
                                                        "peak_gflops",
                                                        "peak_bf16_gflops",
                                                        "read_gbps",
                                                        "record_overhead",
                                                        "rounds",
                                                        "measured_batches",
                                                        "in_cache",
                                                        "weights_read.",
                                                        "held_bytes",
                                                        "weight_budget.peak_bytes",
                                                        "peak_resident_bytes",
                                                        "between_spread"};
constexpr const char* kInterval = "_ci95";

struct Figures {
  std::string name;
  RoutedModel model;
  WithheldFigures withheld;
  Json summary;
  std::vector<std::pair<std::string, double>> values;
  std::map<std::string, double, std::less<>> value_of;
  std::map<std::string, std::array<double, 2>, std::less<>> intervals;
  std::vector<std::string> nulls, null_intervals;
};

bool has_summary(const SessionReader&, const RunSummary& run) { return !run.summary.empty(); }

std::string runs_with_figures(const SessionReader& session) {
  std::string list;
  for (const RunSummary& run : session.runs())
    if (!run.summary.empty()) add_to_list(list, ("#" + std::to_string(run.id)) + " (" + run.kind + ")");
  return list.empty() ? "no run of this session has any; run and optimize make them" : "those with figures: " + list;
}

RunSummary run_to_compare(const SessionReader& session, const std::string& selector) {
  if (selector.empty()) return choose_run(session, "", has_summary, "holds no run with figures");
  RunSummary run = session.find_run(selector);
  if (run.summary.empty())
    bad_input(session.path() + "#" + selector,
              run.status == RunStatus::finished ? "is a recording without figures"
                                                : "holds no figures: its run is " + std::string(to_text(run.status)),
              runs_with_figures(session));
  return run;
}

/// Of a trace: how many choices it has, and what their routing says. Paths, run numbers and times of reading are none of its figures.
Json routing_figures(const Json& imported, const std::string& session, const RunSummary& run) {
  Json j = {{"schema", imported["schema"]}};
  for (const char* key : {"rows_read", "rows_skipped", "rows_masked", "model"})
    if (imported.contains(key)) j[key] = imported[key];
  const AnalyzeFigures figures = analyze_session(session + "#" + std::to_string(run.id));
  j["routing"] = Json::array();
  for (const RouterAnalysis& r : figures.routers) {
    double all = 0;
    for (const int64_t v : r.load) all += static_cast<double>(v);
    Json shares = Json::array();
    for (const int64_t v : r.load) shares.push_back(all > 0 ? static_cast<double>(v) / all : 0);
    j["routing"].push_back({{"router", r.router},
                            {"imbalance", r.imbalance},
                            {"balancedness", r.balancedness},
                            {"entropy_bits", r.entropy_bits},
                            {"gini", r.gini},
                            {"touched", r.touched},
                            {"load", r.load},
                            {"share", std::move(shares)}});
  }
  return j;
}

constexpr const char* kNameEither = "name S.storm, S.storm#RUN or a file that --json wrote";

/// Nothing: the selector names a run, or none of both.
std::optional<StoredPlacement> placement_to_compare(const SessionReader& session, const std::string& selector) {
  if (selector.empty()) return {};
  for (const RunSummary& run : session.runs())
    if (selector == std::to_string(run.id) || selector == run.name) return {};
  return session.named_placement(selector);
}

/// Values that differ only by the order of a sum are equal.
void round_figures(Json& value) {
  constexpr double kDigits = 1e12;
  if (value.is_number_float()) {
    const double v = value.get<double>();
    const double scale = v == 0 || !std::isfinite(v) ? 1 : std::exp2(std::floor(std::log2(std::fabs(v))));
    value = std::round(v / scale * kDigits) / kDigits * scale;
  } else if (value.is_structured()) {
    for (Json& member : value) round_figures(member);
  }
}

/// The placement itself, without what it was compared with when it was made.
Json placement_figures(const StoredPlacement& placement, const SessionReader& session) {
  Json json = Json::parse(placement.summary, nullptr, false);
  if (!json.is_object() || !json.contains("layouts"))
    bad_input(session.path() + "#" + std::to_string(placement.id), "is a placement without figures", "place again");
  for (const char* key : {"front", "differences", "run", "placement", "already_stored", "seconds", "chosen", "advice"}) json.erase(key);
  if (json.contains("model") && json["model"].is_object()) json["model"]["fingerprint"] = session.summary().model.fingerprint;
  round_figures(json);
  return json;
}

bool is_placement(const Json& summary) { return summary["schema"] == "stormcell.place/1"; }

/// Before the text is read as JSON, whose complaint would be of a comma.
void refuse_other_summary(const std::string& file, const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{')
    refuse_file(file, text, FileUse::session, "is neither a session nor a summary that --json wrote", kNameEither);
}

std::string text_at(const Json& j, const char* object, const char* key) {
  const auto at = j.find(object);
  if (at == j.end() || !at->is_object()) return {};
  const auto value = at->find(key);
  return value != at->end() && value->is_string() ? value->get<std::string>() : std::string();
}

/// As a summary tells it, without the layout that a session has.
RoutedModel model_of(const Json& summary, const std::string& file) {
  RoutedModel made{file, {}, true, {}};
  const bool imported = summary["schema"].get<std::string>().starts_with("stormcell.import/");
  made.model.name = text_at(summary, "model", "name");
  made.model.fingerprint = text_at(summary, "model", "fingerprint");
  made.model.form = imported ? "trace" : text_at(summary, "model", "weights") == "seeded" ? "seeded" : ModelSummary().form;
  made.is_named = !made.model.name.empty();
  if (const auto routing = summary.find("routing"); routing != summary.end() && routing->is_array())
    for (const Json& r : *routing)
      if (r.is_object() && r.contains("branches") && r["branches"].is_number_integer())
        made.routers.push_back({-1, r["branches"].get<int32_t>()});
  return made;
}

/// Sets `model`, too.
Json summary_of(const std::string& name, RoutedModel& model) {
  const SessionPath path = parse_session_path(name);
  std::string text;
  std::optional<RunSummary> imported;
  if (!path.run.empty() || is_session_file(path.file)) {
    const SessionReader session(path.file);
    if (const std::optional<StoredPlacement> placement = placement_to_compare(session, path.run)) {
      model = {path.file, session.summary().model, !session.summary().model.name.empty(), {}};
      return placement_figures(*placement, session);
    }
    RunSummary run = run_to_compare(session, path.run);
    text = run.summary;
    model = routed_model(path.file, session.summary().model, run, session.layout(run.id));
    if (run_kind(run.kind) == RunKind::import) imported = std::move(run);
  } else {
    text = read_text(path.file);
    refuse_other_summary(path.file, text);
  }
  parse_json_text(text, path.file);  // with the place of every mistake
  Json summary = Json::parse(text, nullptr, false);
  if (!summary.is_object() || !summary.contains("schema") || !summary["schema"].is_string() ||
      !summary["schema"].get<std::string>().starts_with("stormcell."))
    refuse_file(name, text, FileUse::session, "is neither a session nor a summary that --json wrote", kNameEither);
  if (model.named.empty()) model = model_of(summary, path.file);
  withhold_speedups(summary);
  return imported ? routing_figures(summary, path.file, *imported) : summary;
}

void collect(const Json& value, const std::string& path, Figures& into) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (value.is_number() || value.is_boolean()) {
    const double number = value.is_boolean() ? value.get<bool>() : value.get<double>();
    if (into.value_of.emplace(path, number).second) into.values.emplace_back(path, number);
  } else if (value.is_null()) {
    into.nulls.push_back(path);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (path.empty() && std::find(kLeftOut.begin(), kLeftOut.end(), key) != kLeftOut.end()) continue;
      // Lists of what was found, and an item's number in the data, are no figures.
      if (is_withheld_key(key)) {
        if (member.is_string()) into.withheld[below(key)] = member.get<std::string>();
        continue;
      }
      if (key == "other_load" || key == "listed_flips" || key == "parameters" || key == "curve" || key == "wrong" || key == "item" ||
          key == "measurings")
        continue;
      if (key.ends_with(kInterval)) {
        if (member.is_array() && member.size() == 2 && member[0].is_number() && member[1].is_number())
          into.intervals[below(key.substr(0, key.size() - std::strlen(kInterval)))] = {member[0].get<double>(), member[1].get<double>()};
        else
          into.null_intervals.push_back(below(key.substr(0, key.size() - std::strlen(kInterval))));
        continue;
      }
      collect(member, below(key), into);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      std::string key = std::to_string(i);
      // Pictures of a size are those of that size, whatever other sizes there are.
      if (value[i].is_object() && value[i].contains("height") && value[i].contains("width"))
        key = value[i]["height"].dump() + "x" + value[i]["width"].dump();
      for (const char* name : kNames)
        if (value[i].is_object() && value[i].contains(name) && value[i][name].is_string()) key = value[i][name].get<std::string>();
      collect(value[i], below(key), into);
    }
  }
}

Figures figures_of(const std::string& name) {
  Figures f;
  f.name = name;
  f.summary = summary_of(name, f.model);
  collect(f.summary, "", f);
  return f;
}

/// Nobody knows that the two are of one model, where both name theirs and the names differ.
void compare_models(const Figures& a, const Figures& b, Comparison& c) {
  const std::string &x = a.model.model.name, &y = b.model.model.name;
  if (!a.model.is_named || !b.model.is_named || x == y || same_model(a.model, b.model) == SameModel::yes) return;
  c.same_model = false;
  c.warnings.push_back("the models differ: " + x + " and " + y + ", so nothing is better or worse");
}

/// True where one of them does.
bool warn_where_data_differ(const Figures& a, const Figures& b, std::vector<std::string>& warnings) {
  constexpr const char* kSo = ", so times must not be compared, and nothing is better or worse";
  const std::string x = text_at(a.summary, "dataset", "name"), y = text_at(b.summary, "dataset", "name");
  const bool others = !x.empty() && !y.empty() && x != y;
  if (others) warnings.push_back("the data differ: " + x + " and " + y + kSo);
  const auto cells_a = a.value_of.find("dataset.cells"), cells_b = b.value_of.find("dataset.cells");
  if (cells_a == a.value_of.end() || cells_b == b.value_of.end() || cells_a->second == cells_b->second) return others;
  warnings.push_back("the amounts of data differ: " + std::to_string(static_cast<int64_t>(cells_a->second)) + " and " +
                     std::to_string(static_cast<int64_t>(cells_b->second)) + " cells" + (others ? "" : kSo));
  return true;
}

void warn_where_machines_differ(const Figures& a, const Figures& b, std::vector<std::string>& warnings) {
  const std::array<std::array<const char*, 3>, 3> rows = {
      {{"device", "name", "the processors differ, so times must not be compared"},
       {"device", "isa", "the instruction sets in use differ, so times must not be compared"},
       {"device", "core_placement", "the threads ran on different cores, so times must not be compared"}}};
  for (const auto& [object, key, what] : rows) {
    const std::string x = text_at(a.summary, object, key), y = text_at(b.summary, object, key);
    if (!x.empty() && !y.empty() && x != y) warnings.push_back(std::string(what) + ": " + x + " and " + y);
  }
}

void warn_where_ceilings_differ(const Figures& a, const Figures& b, std::vector<std::string>& warnings) {
  constexpr double kFar = 1.25;
  constexpr std::array<std::array<const char*, 3>, 2> kCeilings = {
      {{"device.peak_gflops", "GFLOP/s", "arithmetic"}, {"device.read_gbps", "GB/s", "reading memory"}}};
  for (const auto& [figure, unit, what] : kCeilings) {
    const auto x = a.value_of.find(figure), y = b.value_of.find(figure);
    if (x == a.value_of.end() || y == b.value_of.end() || x->second <= 0 || y->second <= 0) continue;
    if (std::max(x->second, y->second) <= kFar * std::min(x->second, y->second)) continue;
    char text[240];
    std::snprintf(
        text, sizeof text,
        "the measured ceilings of %s differ: %.3g and %.3g %s; the machine was not the same, or busy, so times must not be compared", what,
        x->second, y->second, unit);
    warnings.emplace_back(text);
  }
}

/// Warns if times are to be compared and a run was measured in one process alone.
void warn_of_single_measurings(const Figures& a, const Figures& b, Comparison& c) {
  for (const Figures* f : {&a, &b}) {
    std::set<std::string> reasons;
    for (const ComparedFigure& r : c.rows)
      if (r.between_runs && !*r.between_runs && r.a != r.b) reasons.insert(why_no_spread(f->summary, r.figure));
    reasons.erase("");
    if (!reasons.empty())
      c.warnings.push_back("the spread between runs is not known of " + f->name + " (" + *reasons.begin() +
                           "), so no difference between times is called one");
  }
}

/// Figures of routers that count padding in one of the two runs only, as a plan without padding and one with it: they say nothing beside
/// each other. The figures of real cells ("load_real") stand for them.
std::set<std::string> figures_with_padding_in_one(const Figures& a, const Figures& b) {
  std::set<std::string> figures;
  const auto padding_in = [](const Figures& f, const std::string& router) {
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
      if (key == "cells" || key == "imbalance" || key == "entropy" || key == "dropped" || key.starts_with("load.")) figures.insert(other);
    }
  }
  return figures;
}

/// Shares of a router's branches by its name; empty where it has no loads.
std::map<std::string, std::vector<double>> shares_of(const Json& summary) {
  std::map<std::string, std::vector<double>> shares;
  const auto routing = summary.find("routing");
  if (routing == summary.end() || !routing->is_array()) return shares;
  for (const Json& r : *routing) {
    if (!r.is_object() || !r.contains("router") || !r["router"].is_string()) continue;
    // Padding says nothing about the data: where it is known apart, it is left out.
    const auto load = r.contains("load_real") ? r.find("load_real") : r.find("load");
    if (load == r.end() || !load->is_array()) continue;
    std::vector<double> values;
    double sum = 0;
    for (const Json& v : *load) values.push_back(v.is_number() ? std::max(0.0, v.get<double>()) : 0), sum += values.back();
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

void add_interval_ends(const Figures& figures, size_t side, Comparison& c) {
  for (const auto& [figure, ends] : figures.intervals)
    for (size_t e = 0; e < 2; ++e) c.interval_ends[figure + kInterval + "[" + std::to_string(e) + "]"][side] = ends[e];
  for (const std::string& figure : figures.null_intervals)
    for (size_t e = 0; e < 2; ++e) c.interval_ends[figure + kInterval + "[" + std::to_string(e) + "]"];
}

ComparedFigure compared(const std::string& figure, const Figures& a, const Figures& b) {
  ComparedFigure row;
  row.figure = figure;
  if (const auto at = a.value_of.find(figure); at != a.value_of.end()) row.a = at->second;
  if (const auto at = b.value_of.find(figure); at != b.value_of.end()) row.b = at->second;
  if (!row.a || !row.b) return row;
  row.difference = *row.b - *row.a;
  const auto ia = a.intervals.find(figure), ib = b.intervals.find(figure);
  const bool timed = has_any(figure, kMeasured);
  if (ia != a.intervals.end() && ib != b.intervals.end()) {
    if (timed) row.between_runs = why_no_spread(a.summary, figure).empty() && why_no_spread(b.summary, figure).empty();
    if (timed && !*row.between_runs) return row;
    row.ci95 = interval_of_difference({*row.a, ia->second}, {*row.b, ib->second}, timed ? Scale::ratios : Scale::plain);
    row.significant = (*row.ci95)[0] > 0 || (*row.ci95)[1] < 0;
  } else if (!timed) {
    row.significant = *row.difference != 0;
  }
  return row;
}

/// Figures that a warning excludes are never significant, however far apart they are.
void bar_times(Comparison& c) {
  for (ComparedFigure& row : c.rows)
    if (is_of_time(row.figure)) row.comparable = false, row.significant = {};
}

}  // namespace

Comparison compare_runs(const std::string& name_a, const std::string& name_b) {
  const Figures a = figures_of(name_a), b = figures_of(name_b);
  if (is_placement(a.summary) != is_placement(b.summary))
    bad_input(name_b, is_placement(b.summary) ? "is a placement, and " + name_a + " a run" : "is a run, and " + name_a + " a placement",
              "compare two runs, or two placements");
  check_like_models(a.model, b.model);
  Comparison c;
  c.withheld = {a.withheld, b.withheld};
  c.a = name_a;
  c.b = name_b;
  const std::set<std::string> padded = figures_with_padding_in_one(a, b);
  RunTerms terms = compare_terms(a.summary, b.summary);
  c.same_terms = terms.same_phase && terms.same_budget;
  c.warnings = std::move(terms.warnings);
  const auto apart = [&](const std::string& figure) {
    return padded.contains(figure) || is_sum_of_executions(figure) || (!terms.same_phase && is_of_phase(figure));
  };
  for (const auto& [figure, value] : a.values) {
    c.rows.push_back(compared(figure, a, b));
    if (apart(figure)) c.rows.back() = {.figure = figure, .a = c.rows.back().a, .b = c.rows.back().b};
  }
  if (!padded.empty()) c.warnings.emplace_back("only one of the two runs computed padding: loads are compared by their real cells");
  for (const auto& [figure, value] : b.values)
    if (!a.value_of.contains(figure)) c.rows.push_back(compared(figure, a, b));
  // Null in both: known to the conditions, with nothing to show.
  for (const std::string& figure : b.nulls)
    if (!a.value_of.contains(figure)) c.rows.push_back({.figure = figure});
  c.routing = routing_distances(a.summary, b.summary);
  add_interval_ends(a, 0, c);
  add_interval_ends(b, 1, c);
  compare_models(a, b, c);
  c.same_data = !warn_where_data_differ(a, b, c.warnings);
  const size_t before = c.warnings.size();
  warn_where_machines_differ(a, b, c.warnings);
  warn_where_ceilings_differ(a, b, c.warnings);
  if (!c.same_model || !c.same_terms || !c.same_data || c.warnings.size() > before) bar_times(c);
  warn_of_single_measurings(a, b, c);
  return c;
}

std::string to_json(const Comparison& comparison) {
  Json j = json_of_verb("compare");
  j["a"] = comparison.a;
  j["b"] = comparison.b;
  Json rows = Json::array();
  for (const ComparedFigure& row : comparison.rows)
    rows.push_back({{"figure", row.figure},
                    {"a", or_null(row.a)},
                    {"b", or_null(row.b)},
                    {"difference", or_null(row.difference)},
                    {"ci95", or_null(row.ci95)},
                    {"significant", or_null(row.significant)},
                    {"between_runs", or_null(row.between_runs)},
                    {"comparable", row.comparable}});
  j["rows"] = std::move(rows);
  j["routing"] = Json::array();
  for (const RoutingDistance& d : comparison.routing)
    j["routing"].push_back({{"router", d.router}, {"total_variation", d.total_variation}, {"jensen_shannon_bits", d.jensen_shannon_bits}});
  j["warnings"] = comparison.warnings;
  // Speed-ups that were not measured well enough, of each side, by the key that says so.
  j["withheld"] = {{"a", Json(comparison.withheld[0])}, {"b", Json(comparison.withheld[1])}};
  return json_text(j);
}

}  // namespace stormcell
