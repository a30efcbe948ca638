#include "core/readings/session_runs.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/readings/session_view.h"
#include "core/summary/summary_json.h"

namespace stormcell {

bool is_session_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  char magic[16] = {};
  return file.read(magic, sizeof magic) && std::memcmp(magic, "SQLite format 3", sizeof magic) == 0;
}

SessionRuns list_session_runs(const std::string& file) {
  const SessionOverview overview = open_session(file);
  SessionRuns list{file, overview.model, overview.family, {}};
  for (const RunLine& run : overview.runs) {
    SessionRunLine line{run.id, run.batches, run.kind, run.name, run.status, run.started};
    if (run.result) {
      const RunSummaryFigures& figures = run.result->figures;
      line.figures = true;
      line.speedup = figures.speedup;
      line.speedup_ci95 = figures.speedup_ci95;
      for (const PassReport& pass : figures.passes)
        if (pass.applied) line.passes.push_back(pass.name);
    }
    list.runs.push_back(std::move(line));
  }
  return list;
}

std::string to_json(const SessionRuns& list) {
  nlohmann::ordered_json json = json_of_verb("inspect");
  json["name"] = list.model;
  json["family"] = list.family;
  for (const char* key : {"parameters", "weight_bytes", "flops_per_cell"}) json[key] = nullptr;
  json["routers"] = nlohmann::ordered_json::array();
  json["operators"] = nlohmann::ordered_json::object();
  json["unsupported"] = json["warnings"] = nlohmann::ordered_json::array();
  json["session"] = list.file;
  json["runs"] = nlohmann::ordered_json::array();
  for (const SessionRunLine& run : list.runs) {
    nlohmann::ordered_json line = {{"run", run.id},          {"kind", run.kind},       {"name", run.name},       {"status", run.status},
                                   {"started", run.started}, {"batches", run.batches}, {"figures", run.figures}, {"passes", run.passes}};
    line["speedup"] = run.speedup ? nlohmann::ordered_json(*run.speedup) : nlohmann::ordered_json();
    line["speedup_ci95"] = run.speedup_ci95 ? nlohmann::ordered_json(*run.speedup_ci95) : nlohmann::ordered_json();
    json["runs"].push_back(std::move(line));
  }
  return json_text(json);
}

}  // namespace stormcell
