#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "core/base/child_process.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/scratch_folder.h"
#include "core/experiment/jobs.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {
namespace {

constexpr std::string_view kPrefix = "stormcell: ";

// Verbs whose figures the batch's JSON takes over.
constexpr std::string_view kWithJson[] = {"inspect",  "run",     "generate", "profile",
                                          "optimize", "what-if", "compare",  "doctor"};

/// The last line that is an error and no warning, without "stormcell: ".
std::string error_line(const std::string& errors) {
  std::string line, found;
  for (size_t at = 0; at < errors.size(); at += line.size() + 1) {
    line = errors.substr(at, errors.find('\n', at) - at);
    if (line.starts_with(kPrefix) && !line.starts_with("stormcell: warning:")) found = line.substr(kPrefix.size());
  }
  return found;
}

/// FILE of "--json FILE" or "--json=FILE"; empty without it.
std::string json_of(const std::vector<std::string>& args) {
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i] == "--json" && i + 1 < args.size()) return args[i + 1];
    if (args[i].starts_with("--json=")) return args[i].substr(7);
  }
  return {};
}

std::string read_if_there(const std::string& path) {
  try {
    return std::filesystem::exists(path) ? read_text(path) : std::string();
  } catch (const Error&) {
    return {};
  }
}

class BatchVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "JOBS.json", jobs_,
                 "{\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"name\": ..., \"args\": [...]}, ...]}; paths are "
                 "relative to its folder");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    TextOutput json(json_);
    if (json.is_standard_output()) console.take_standard_output();
    const std::vector<Job> jobs = read_jobs(jobs_);
    const ScratchFolder scratch;
    std::vector<JobResult> results;
    for (const Job& job : jobs) {
      if (console.cancel().cancelled()) break;
      console.report("job " + job.name, static_cast<int64_t>(results.size()), static_cast<int64_t>(jobs.size()));
      console.print("== " + job.name + "\n");
      results.push_back(run(job, scratch.path() + "/job.json", console, json.is_standard_output()));
      const JobResult& r = results.back();
      if (r.exit != 0)
        console.warning("job " + r.job.name + ": exit " + std::to_string(r.exit) +
                        (r.error.empty() ? "" : ": " + r.error));
    }
    json.write(to_json(results));
    json.finish();
    console.print(summary(results));
    console.cancel().check();
    const auto bad = std::count_if(results.begin(), results.end(), [](const JobResult& r) { return r.exit != 0; });
    if (bad > 0)
      failed(jobs_, std::to_string(bad) + " of " + counted(static_cast<int64_t>(results.size()), "job") + " failed");
    return 0;
  }

 private:
  JobResult run(const Job& job, const std::string& own_json, Console& console, bool silent) const {
    JobResult result;
    result.job = job;
    ChildOptions child;
    child.arguments = job.args;
    child.folder = folder_of_jobs(jobs_);
    child.silent = silent || console.options().quiet;
    child.called_for = "batch";
    std::string json = json_of(job.args);
    const bool asks = !json.empty();
    if (!asks && std::find(std::begin(kWithJson), std::end(kWithJson), job.args[0]) != std::end(kWithJson)) {
      std::filesystem::remove(own_json);
      child.arguments.insert(child.arguments.end(), {"--json", own_json});
      json = own_json;
    }
    const auto begin = std::chrono::steady_clock::now();
    const ChildResult ended = run_child(child, console.cancel());
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.exit = ended.exit;
    if (ended.exit != 0) result.error = error_line(ended.errors);
    if (!json.empty() && json != "-" && (ended.exit == 0 || !asks))
      result.json = read_if_there(asks ? (std::filesystem::path(child.folder) / json).string() : json);
    for (size_t at = 0; at < ended.errors.size();) {
      const size_t end = std::min(ended.errors.find('\n', at), ended.errors.size());
      console.log(job.name + ": " + ended.errors.substr(at, end - at));
      at = end + 1;
    }
    return result;
  }

  static std::string summary(const std::vector<JobResult>& results) {
    std::vector<std::vector<std::string>> rows = {{"job", "exit", "seconds", ""}};
    for (const JobResult& r : results)
      rows.push_back({r.job.name, std::to_string(r.exit), number_text(r.seconds), r.error});
    return "\n" + table_text(rows, {1, 2});
  }

  std::string jobs_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_batch() { return std::make_unique<BatchVerb>(); }

}  // namespace stormcell::cli
