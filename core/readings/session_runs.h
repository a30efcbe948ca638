// What runs a session holds, one line each.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

struct SessionRunLine {
  int64_t id = 0, batches = 0;
  std::string kind, name, status, started;
  std::vector<std::string> passes;  ///< those that applied
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> speedup_ci95;
  bool figures = false;  ///< compare and report have something to show
};
struct SessionRuns {
  std::string file, model, family;
  std::vector<SessionRunLine> runs;  ///< oldest first
};
/// The file begins as a session does.
bool is_session_file(const std::string& path);
SessionRuns list_session_runs(const std::string& file);
/// stormcell.inspect/1 with `session` and `runs`; what only a model has is null or empty.
std::string to_json(const SessionRuns& runs);

}  // namespace stormcell
