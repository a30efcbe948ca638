#include "core/comparison/summary_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"
#include "core/comparison/analyze.h"
#include "core/comparison/figure_rows.h"
#include "core/exports/text_output.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_file.h"
#include "core/readings/session_lookup.h"
#include "core/readings/session_runs.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

// Keys that are not figures of the run: its options, and texts.
constexpr std::array kLeftOut = {"schema",      "version",  "config",  "settings", "session",
                                 "session_run", "warnings", "outputs", "origin"};
// The keys that identify the members of a list.
constexpr std::array kNames = {"name", "router", "op"};

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

/// The figures of a trace: its number of choices and their routing. Paths, run numbers and times of reading are not
/// figures.
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

/// Nothing if the selector names a run, or neither a run nor a placement.
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

/// The figures of the placement itself, without those of layouts that it was compared with when it was made.
Json placement_figures(const StoredPlacement& placement, const SessionReader& session) {
  Json json = Json::parse(placement.summary, nullptr, false);
  if (!json.is_object() || !json.contains("layouts"))
    bad_input(session.path() + "#" + std::to_string(placement.id), "is a placement without figures", "place again");
  for (const char* key : {"front", "differences", "run", "placement", "already_stored", "seconds", "chosen", "advice"})
    json.erase(key);
  if (json.contains("model") && json["model"].is_object())
    json["model"]["fingerprint"] = session.summary().model.fingerprint;
  round_figures(json);
  return json;
}

/// This check comes before the text is parsed as JSON: the parser would complain about a comma.
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

/// The model as a summary describes it; the layout is only in a session.
RoutedModel model_of(const Json& summary, const std::string& file) {
  RoutedModel made{file, {}, true, {}};
  const bool imported = summary["schema"].get<std::string>().starts_with("stormcell.import/");
  made.model.name = text_at(summary, "model", "name");
  made.model.fingerprint = text_at(summary, "model", "fingerprint");
  made.model.form = imported                                           ? kTraceForm
                    : text_at(summary, "model", "weights") == "seeded" ? kSeededForm
                                                                       : kSampledForm;
  made.is_named = !made.model.name.empty();
  if (const auto routing = summary.find("routing"); routing != summary.end() && routing->is_array())
    for (const Json& r : *routing)
      if (r.is_object() && r.contains("branches") && r["branches"].is_number_integer())
        made.routers.push_back({-1, r["branches"].get<int32_t>()});
  return made;
}

/// Sets the model and, of a session, which run it is and its chances, too.
Json summary_of(const std::string& name, SummaryFigures& of) {
  RoutedModel& model = of.model;
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
    of.session = path.file, of.run = run.id, of.chances = read_load_chances(path.file, run.id);
    if (run_kind(run.kind) == RunKind::import) imported = std::move(run);
  } else {
    text = read_text(path.file);
    refuse_other_summary(path.file, text);
  }
  const nlohmann::json checked = parse_json_text(text, path.file);  // with the place of every mistake
  Json summary = Json::parse(text, nullptr, false);                 // in the order of the file
  if (summary.is_discarded()) summary = checked;                    // it holds NaN or Infinity
  if (!summary.is_object() || !summary.contains("schema") || !summary["schema"].is_string() ||
      !summary["schema"].get<std::string>().starts_with("stormcell."))
    refuse_file(name, text, FileUse::session, "is neither a session nor a summary that --json wrote", kNameEither);
  if (model.named.empty()) model = model_of(summary, path.file);
  withhold_speedups(summary);
  return imported ? routing_figures(summary, path.file, *imported) : summary;
}

void collect(const Json& value, const std::string& path, SummaryFigures& into) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (value.is_number() || value.is_boolean()) {
    const double number = value.is_boolean() ? value.get<bool>() : value.get<double>();
    if (into.value_of.emplace(path, number).second) into.values.emplace_back(path, number);
  } else if (value.is_null()) {
    into.nulls.push_back(path);
  } else if (value.is_binary()) {  // is_not_finite(), without a copy of what is in it
    refuse_not_finite(value, path);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (path.empty() && std::find(kLeftOut.begin(), kLeftOut.end(), key) != kLeftOut.end()) continue;
      // Lists of findings, an estimate of time and the number of an item in the data are not figures.
      if (is_withheld_key(key)) {
        if (member.is_string()) into.withheld[below(key)] = member.get<std::string>();
        continue;
      }
      if (key == "other_load" || key == "expected_seconds" || key == "likely_seconds" || key == "listed_flips" ||
          key == "parameters" || key == "curve" || key == "wrong" || key == "item" || key == "measurings")
        continue;
      if (key.ends_with(kIntervalKey)) {
        if (member.is_array() && member.size() == 2 && member[0].is_number() && member[1].is_number())
          into.intervals[below(key.substr(0, key.size() - std::strlen(kIntervalKey)))] = {member[0].get<double>(),
                                                                                          member[1].get<double>()};
        else
          into.null_intervals.push_back(below(key.substr(0, key.size() - std::strlen(kIntervalKey))));
        continue;
      }
      collect(member, below(key), into);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      std::string key = std::to_string(i);
      // A size identifies the pictures of that size, whatever other sizes there are.
      if (value[i].is_object() && value[i].contains("height") && value[i].contains("width"))
        key = value[i]["height"].dump() + "x" + value[i]["width"].dump();
      for (const char* name : kNames)
        if (value[i].is_object() && value[i].contains(name) && value[i][name].is_string())
          key = value[i][name].get<std::string>();
      collect(value[i], below(key), into);
    }
  }
}

}  // namespace

bool SummaryFigures::is_placement() const { return (*summary)["schema"] == "stormcell.place/1"; }

std::string SummaryFigures::text(const char* object, const char* key) const { return text_at(*summary, object, key); }

SummaryFigures summary_figures(const std::string& name) {
  SummaryFigures f;
  f.name = name;
  f.summary = std::make_shared<const Json>(summary_of(name, f));
  collect(*f.summary, "", f);
  return f;
}

}  // namespace stormcell
