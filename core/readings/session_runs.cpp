#include "core/readings/session_runs.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/formats/json_file.h"
#include "core/readings/contents_view.h"
#include "core/session/session_reader.h"
#include "core/summary/latency.h"
#include "core/summary/summary_json.h"

namespace stormcell {

bool is_session_file(const std::string& path) {
  std::error_code error;
  if (path.ends_with(".storm") && !std::filesystem::is_directory(path, error)) return true;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  char magic[16] = {};
  return file.read(magic, sizeof magic) && std::memcmp(magic, "SQLite format 3", sizeof magic) == 0;
}

namespace {

/// Names in the order of Kept.
constexpr std::array kKeptNames = {"loads",    "decisions", "weights", "token ids", "texts",  "pieces",
                                   "pictures", "labels",    "margins", "scores",    "events", "guards"};
static_assert(kKeptNames.size() == kKeptKinds);

/// The annotations of a run's plan: from its configuration or, if the run did not get so far, from its settings.
std::vector<std::string> annotations_of(const RunLine& run) {
  const nlohmann::json kept = json_or_null(run.config.empty() ? run.settings : run.config);
  std::vector<std::string> annotations;
  if (const auto at = kept.is_object() ? kept.find("annotations") : kept.end(); at != kept.end() && at->is_array())
    for (const nlohmann::json& text : *at)
      if (text.is_string()) annotations.push_back(text.get<std::string>());
  return annotations;
}

void set_figures(const Summary& summary, SessionRunLine& line) {
  const RunSummaryFigures& f = summary.figures;
  line.figures = true;
  if (f.baseline) line.baseline_ms = typical_milliseconds(f.baseline->latency_ms);
  // The time of a plan that computes something else is nobody's gain.
  if (f.optimized && f.is_verified()) line.optimized_ms = typical_milliseconds(f.optimized->latency_ms);
  line.speedup = f.speedup;
  line.speedup_ci95 = f.speedup_ci95;
  line.knows_spread = f.knows_spread();
  line.speedup_withheld = f.withheld;
  if (f.verified) line.verified = f.verified->passed;
  for (const PassReport& pass : f.passes)
    if (pass.applied) line.passes.push_back(pass.name);
  if (!summary.generated) return;
  line.batches = summary.generated->batches;
  line.baseline_ms = typical_milliseconds(summary.generated->latency_ms);
  if (summary.generated->verified) line.verified = summary.generated->verified->passed;
}

}  // namespace

std::optional<std::string> damage_of_session(const std::string& file, const Progress& progress) {
  may_block("damage_of_session");
  try {
    if (!SessionReader(file).check_if_small(progress)) return {};
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    return e.what();
  }
  return std::string();
}

SessionRuns list_session_runs(const std::string& file, bool check, const Progress& progress) {
  if (check) SessionReader(file).check(progress);
  const auto data = read_session_data(file, 0, progress);
  SessionRuns list{file,
                   data->model,
                   data->family,
                   data->fingerprint,
                   data->weights,
                   data->created,
                   data->program,
                   data->schema,
                   data->bytes,
                   data->parameters,
                   data->weight_bytes,
                   {},
                   {},
                   check,
                   data->weights_stated};
  for (const RunContents& run : data->runs) {
    SessionRunLine& line = list.runs.emplace_back();
    line.id = run.line.id;
    // A recording of decoding has a pass for the input of a batch and one for each turn.
    line.batches = run.line.batches_of_data > 0 ? run.line.batches_of_data : run.line.batches;
    line.sequences = run.sequences;
    line.items = run.items_text(), line.sizes = run.sizes;
    line.kind = run.line.kind, line.name = run.line.name, line.status = run.line.status,
    line.started = run.line.started;
    line.phase = run.line.phase;
    line.weight_budget = run.line.weight_budget;
    line.annotations = annotations_of(run.line);
    line.data = run.dataset, line.machine = run.machine, line.threads = run.threads;
    for (size_t k = 0; k < kKeptKinds; ++k)
      if (run.kept[k]) line.keeps.emplace_back(kKeptNames[k]);
    if (run.line.result) set_figures(*run.line.result, line);
  }
  for (const StoredPlacement& p : SessionReader(file).placements())
    list.placements.push_back({p.id, p.run, p.name, p.solver, p.created});
  return list;
}

std::string to_json(const SessionRuns& list) {
  using Json = nlohmann::ordered_json;
  Json json = json_of_verb("inspect");
  json["name"] = list.model;
  json["family"] = list.family;
  json["parameters"] = positive_or_null(list.parameters);
  json["weight_bytes"] = positive_or_null(list.weight_bytes);
  json["flops_per_cell"] = nullptr;
  json["routers"] = Json::array();
  json["operators"] = Json::object();
  json["unsupported"] = json["warnings"] = Json::array();
  json["session"] = list.file;
  json["fingerprint"] = text_or_null(list.fingerprint);
  json["weights"] = text_or_null(list.weights);
  json["weights_stated"] = list.weights_stated;
  json["created"] = text_or_null(list.created);
  json["program"] = text_or_null(list.program);
  json["schema_of_session"] = list.schema;
  json["bytes"] = list.bytes;
  json["checked"] = list.checked;
  json["runs"] = Json::array();
  for (const SessionRunLine& run : list.runs) {
    Json line = {
        {"run", run.id},          {"kind", run.kind},       {"name", run.name},       {"status", to_text(run.status)},
        {"started", run.started}, {"batches", run.batches}, {"figures", run.figures}, {"passes", run.passes}};
    line["phase"] = text_or_null(run.phase);
    line["speedup"] = or_null(run.speedup);
    line["speedup_ci95"] = or_null(run.speedup_ci95);
    line["speedup_between_runs"] = run.speedup ? Json(run.knows_spread) : Json();
    line["speedup_withheld"] = run.speedup_withheld ? Json(to_text(*run.speedup_withheld)) : Json();
    line["verified"] = or_null(run.verified);
    line["latency_ms"] = {{"baseline", or_null(run.baseline_ms)}, {"optimized", or_null(run.optimized_ms)}};
    line["sequences"] = run.sequences;
    line["sizes"] = Json::array();
    for (const PictureFigures& s : run.sizes)
      line["sizes"].push_back({{"height", s.height}, {"width", s.width}, {"items", s.items}, {"batches", s.batches}});
    line["data"] = text_or_null(run.data);
    line["machine"] = text_or_null(run.machine);
    line["threads"] = positive_or_null(run.threads);
    line["weight_budget"] = positive_or_null(run.weight_budget);
    line["annotations"] = run.annotations;
    line["keeps"] = run.keeps;
    json["runs"].push_back(std::move(line));
  }
  json["placements"] = Json::array();
  for (const PlacementLine& p : list.placements)
    json["placements"].push_back(
        {{"placement", p.id}, {"run", p.run}, {"name", p.name}, {"solver", p.solver}, {"created", p.created}});
  return json_text(json);
}

}  // namespace stormcell
