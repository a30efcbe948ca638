#include "core/experiment/jobs.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_file.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;
constexpr const char* kForm =
    "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"name\": ..., \"args\": [\"run\", ...]}, ...]}";
constexpr size_t kMostJobs = 100000;
}  // namespace

std::vector<Job> read_jobs(const std::string& path) {
  const nlohmann::json file = read_json_file(path);
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds) bad_input(path, what, std::string("expected ") + kForm);
  };
  if (!file.is_object() || !file.contains("schema") || file["schema"] != "stormcell.jobs/1")
    refuse_other_kind(path, FileUse::jobs);
  expect(file.is_object(), "is not an object");
  expect(file.contains("schema") && file["schema"] == "stormcell.jobs/1", "its \"schema\" is not \"stormcell.jobs/1\"");
  expect(file.contains("jobs") && file["jobs"].is_array(), "has no list \"jobs\"");
  expect(file["jobs"].size() <= kMostJobs, "has more than 100000 jobs");
  std::vector<Job> jobs;
  std::set<std::string> names;
  for (const auto& entry : file["jobs"]) {
    const std::string which = "job " + std::to_string(jobs.size() + 1);
    expect(entry.is_object(), which + " is not an object");
    Job job;
    if (entry.contains("name")) {
      expect(entry["name"].is_string(), which + ": its \"name\" is not text");
      job.name = entry["name"].get<std::string>();
    } else {
      job.name = which;
    }
    expect(names.insert(job.name).second, which + ": the name \"" + job.name + "\" occurs twice");
    expect(entry.contains("args") && entry["args"].is_array() && !entry["args"].empty(), which + " has no \"args\"");
    for (const auto& arg : entry["args"]) {
      expect(arg.is_string(), which + ": an entry of \"args\" is not text");
      job.args.push_back(arg.get<std::string>());
      expect(job.args.back().find('\0') == std::string::npos, which + ": an entry of \"args\" holds a null character");
    }
    expect(job.args[0] != "batch", which + ": a batch cannot hold a batch");
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string folder_of_jobs(const std::string& path) {
  if (path == "-") return ".";
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string to_json(std::span<const JobResult> results) {
  Json j = json_of_verb("batch");
  Json jobs = Json::array();
  int64_t failed = 0;
  for (const JobResult& r : results) {
    failed += r.exit != 0;
    Json summary = Json::parse(r.json, nullptr, false);
    jobs.push_back({{"name", r.job.name},
                    {"args", r.job.args},
                    {"exit", r.exit},
                    {"seconds", r.seconds},
                    {"json", summary.is_discarded() ? Json() : summary},
                    {"error", text_or_null(r.error)}});
  }
  j["jobs"] = std::move(jobs);
  j["failed"] = failed;
  return json_text(j);
}

}  // namespace stormcell
