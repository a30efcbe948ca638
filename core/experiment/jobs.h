// stormcell.jobs/1: several calls of the program, one after another.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stormcell {

struct Job {
  std::string name;
  std::vector<std::string> args;
};

struct JobResult {
  Job job;
  int exit = 0;
  double seconds = 0;
  std::string json;   ///< text that the job wrote with --json; empty: none
  std::string error;  ///< its one line; empty: none
};

/// All of it is checked before any job runs. "-" is standard input. Throws Error(bad_input).
std::vector<Job> read_jobs(const std::string& path);
/// The folder that a job's relative paths count from: the file's, or the working one for "-".
std::string folder_of_jobs(const std::string& path);

/// stormcell.batch/1
std::string to_json(std::span<const JobResult> results);

}  // namespace stormcell
