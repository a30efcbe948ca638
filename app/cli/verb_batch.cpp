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
    add_argument(
        app, "JOBS.json", jobs_,
        "Names the jobs: {\"schema\": \"stormcell.jobs/1\", \"jobs\": [{\"name\": ..., \"args\": [...]}, ...]}; paths "
        "are relative to its folder.");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    TextOutput json(json_);
    if (json.is_standard_output()) console.take_standard_output();
    const std::vector<Job> jobs = read_jobs(jobs_);
    const ScratchFolder scratch;
    std::vector<JobResult> results;
    console.show({{jobs_ + " has " + counted(std::ssize(jobs), "job") + ", which run one after another."}, {}});
    page_lines_ = lines_of_each(std::ssize(jobs), console);
    for (const Job& job : jobs) {
      if (console.cancel().cancelled()) break;
      console.report("job " + job.name, static_cast<int64_t>(results.size()), static_cast<int64_t>(jobs.size()));
      if (page_lines_ > 0) console.print("\n== " + job.name + "\n");
      results.push_back(run(job, scratch.path() + "/job.json", console, json.is_standard_output()));
      const JobResult& r = results.back();
      if (r.exit != 0)
        console.warning("job " + r.job.name + ": exit " + std::to_string(r.exit) +
                        (r.error.empty() ? "" : ": " + r.error));
    }
    json.write(to_json(results));
    json.finish();
    console.print("\n"), console.show({{}, summary(results)});
    console.cancel().check();
    const auto bad = std::count_if(results.begin(), results.end(), [](const JobResult& r) { return r.exit != 0; });
    if (bad > 0)
      failed(jobs_, std::to_string(bad) + " of " + counted(static_cast<int64_t>(results.size()), "job") + " failed");
    return 0;
  }

 private:
  /// The lines of a job's page: all pages and the table below them take the 60 lines of one verb. 0: none.
  static int64_t lines_of_each(int64_t jobs, const Console& console) {
    constexpr int64_t kAround = 4;  // the first sentence, and the head of the table
    constexpr int64_t kOfJob = 3;   // an empty line, its name, and its row in the table
    if (console.options().all) return kMostLines;
    return jobs == 0 ? 0 : std::max<int64_t>((static_cast<int64_t>(kMostLines) - kAround) / jobs - kOfJob, 0);
  }

  JobResult run(const Job& job, const std::string& own_json, Console& console, bool silent) const {
    JobResult result;
    result.job = job;
    ChildOptions child;
    child.arguments = job.args;
    child.folder = folder_of_jobs(jobs_);
    child.silent = silent || console.options().quiet || page_lines_ == 0;
    child.called_for = "batch";
    // Behind the job's own words, so that --all of its own stays.
    if (console.options().all && std::find(job.args.begin(), job.args.end(), "--all") == job.args.end())
      child.arguments.emplace_back("--all");
    if (!console.options().all)
      child.arguments.insert(child.arguments.end(),
                             {"--page-lines", std::to_string(std::max<int64_t>(page_lines_, 1))});
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
  int64_t page_lines_ = 0;  ///< of each job
};

}  // namespace

std::unique_ptr<Verb> make_batch() { return std::make_unique<BatchVerb>(); }

}  // namespace stormcell::cli
