// The runs of a session, one line each.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/run_kind.h"
#include "core/summary/results.h"

namespace stormcell {

struct SessionRunLine {
  int64_t id = 0, batches = 0, sequences = 0;
  std::string items;                  ///< described in words: "3 sequences", "24 pictures of 64x64"
  std::vector<PictureFigures> sizes;  ///< sizes of pictures; empty: none
  std::string kind, name, started;
  RunStatus status = RunStatus::interrupted;
  std::string phase;                     ///< "forward", "decode"; empty: nobody said
  std::string data, machine;             ///< empty: nobody said
  int64_t weight_budget = 0;             ///< bytes that weights of branches could take; 0: there was no budget
  std::vector<std::string> annotations;  ///< its plan's, NAME.KEY=WORD each, but those that passes added
  int threads = 0;
  std::vector<std::string> passes;                  ///< those that applied
  std::optional<double> baseline_ms, optimized_ms;  ///< a batch: the mean, of older runs and of generate the median
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> speedup_ci95;
  bool knows_spread = false;  ///< true: the interval holds the spread between runs; false: it is from one process
  std::optional<SpeedupWithheld> speedup_withheld;  ///< why it is not stated although it was measured
  std::optional<bool> verified;
  std::vector<std::string> keeps;  ///< "loads", "decisions", "texts", ...
  bool figures = false;            ///< compare and report have something to show
};
/// A placement that a search found.
struct PlacementLine {
  int64_t id = 0, run = 0;  ///< `run`: whose loads it was made for
  std::string name, solver, created;
};
struct SessionRuns {
  std::string file, model, family, fingerprint, weights, created, program;
  int schema = 0;
  int64_t bytes = 0, parameters = 0, weight_bytes = 0;  ///< 0: not known
  std::vector<SessionRunLine> runs;                     ///< oldest first
  std::vector<PlacementLine> placements;                ///< oldest first
  bool checked = false;                                 ///< all of the file was read
  bool weights_stated = true;                           ///< false: nobody said how they were made
};
/// Whether the file begins as a session does, or is named as one (.storm): then its faults are reported as a session's.
bool is_session_file(const std::string& path);
/// The damage that a look at all of the file finds, though nobody asked for it: the sentence that `--check` would end
/// with; empty: no damage. Nothing if it was not looked at, because it is larger than a moment's reading (64 MiB) or a
/// run is being recorded into it.
std::optional<std::string> damage_of_session(const std::string& file, const Progress& progress = {});
/// `check`: reads all of the file, however large; Error(bad_input) where it is damaged. Else a few kilobytes for each
/// run.
SessionRuns list_session_runs(const std::string& file, bool check = false, const Progress& progress = {});
/// stormcell.inspect/1 with `session` and `runs`; keys that only a model has are null or empty.
std::string to_json(const SessionRuns& runs);

}  // namespace stormcell
