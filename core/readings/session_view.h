// Sessions as plain values for views: opening one reads kilobytes, whatever its size.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/ranges.h"
#include "core/base/run_kind.h"
#include "core/summary/parse.h"

namespace stormcell {

struct RunLine {
  int64_t id = 0;
  std::string kind, name, started, finished;
  RunStatus status = RunStatus::interrupted;
  int64_t batches = 0;
  bool decisions = false;                 ///< every decision is stored, not only their sums
  std::string settings;                   ///< JSON of what it was run with, empty where it was imported
  std::string config;                     ///< stormcell.config/1 that `run --config` replays; empty: the run has none
  std::shared_ptr<const Summary> result;  ///< the result of its verb when it ended; null: it did not end
  std::string phase;                      ///< "forward" or "decode": what was run on its batches; empty: nobody said
  int64_t batches_of_data = 0;  ///< for decoding, where each turn is recorded as a batch; 0: as many as `batches`
  int64_t weight_budget = 0;    ///< bytes that weights of branches could take (--weight-budget); 0: all that there are
  std::string device;           ///< device with its threads; "unknown" if nobody said
};
struct SessionOverview {
  std::string file, id, created, model, family;
  std::vector<RunLine> runs;  ///< oldest first
};
SessionOverview open_session(const std::string& file);
/// Changes whenever the session does; cheap enough to be asked for every second. Empty: the file is not there.
std::string session_revision(const std::string& file);

/// A router's loads beside those of an even router with as many cells: 95 % of even ones are within these ranges.
struct LoadChance {
  double imbalance_low = 0, imbalance_high = 0, entropy_low = 0, entropy_high = 0;
  bool beyond = false;  ///< further than chance goes, with regard to the number of routers; as analyze has it
  double imbalance_middle = 0, entropy_middle = 0;  ///< medians of even routers; all are drawn
};

/// By the router's name; routers that were not judged are left out.
using LoadChances = std::map<std::string, LoadChance>;
/// Over the whole run. `run` 0: the newest. A run that still goes on is not judged.
LoadChances read_load_chances(const std::string& file, int64_t run, const Progress& progress = {});

/// Loads of all routers of one run, each row one router.
struct RoutingLoads {
  int64_t run = 0;
  int64_t batches = 0;
  struct Row {
    std::string router;
    int32_t branches = 0;
    std::vector<int64_t> load, dropped;
    double imbalance = 0, entropy = 0;
    std::optional<LoadChance> chance = {};  ///< null: not judged, since there is no load or the run still goes on
  };
  std::vector<Row> rows;
};
/// `run` 0: the newest. Over all its batches.
std::shared_ptr<const RoutingLoads> read_loads(const std::string& file, int64_t run);

/// A router of a run, for views. Lists have routers in the order in which cells meet them.
struct RouterLine {
  std::string name, stack, protocol, space;
  int32_t branches = 0, fan_out = 1;
  int32_t parent = -1, parent_branch = -1;
  int32_t residual = -2;  ///< as RouterInfo has it; -2: not known
};

/// Loads of every router over consecutive windows of batches.
struct LoadWindows {
  int64_t run = 0;
  int64_t batches = 0;  ///< batches of the whole run
  int64_t batches_per_window = 1;
  int64_t first_window = 0, windows = 0;
  struct Router {
    RouterLine line;
    std::vector<int64_t> cells;  ///< [windows] cells that came, padding included
    /// [windows, branches]: cells a branch got, of these padding, cells that a capacity kept out. Exact: views show
    /// them as counts.
    std::vector<int64_t> load, padding, dropped;
    std::vector<float> weight;  ///< [windows, branches]: sum of the weights
  };
  std::vector<Router> routers;
  int64_t first_batch() const { return first_window * batches_per_window; }
  /// One past the last batch of the last window.
  int64_t end_batch() const;
};
/// The windows that the batches lie in, of the finest level with at most `most_windows` of them. `run` 0: the newest.
std::shared_ptr<const LoadWindows> read_load_windows(const std::string& file, int64_t run, BatchRange range,
                                                     int64_t most_windows, const Progress& progress = {});

/// A cell as a person names it: the sequence's number in the run and the position in it.
struct CellPlace {
  int64_t sequence = 0;
  int32_t position = 0;
  bool operator==(const CellPlace&) const = default;
};
/// The way of one cell, router by router, and what the session knows of it.
struct CellTrail {
  CellPlace place;
  struct Step {
    std::string router;
    int64_t batch = 0;
    std::vector<int32_t> branches;  ///< [fan_out]; -1: dropped
    std::vector<float> weights;     ///< [fan_out] or empty
    std::vector<int32_t> after;     ///< indexes of earlier steps from which the cell came here with no router between
  };
  std::vector<Step> steps;  ///< steps of all cell spaces, each behind those that it comes after
  int32_t token = -1;       ///< -1: the session has no inputs
  std::string piece;        ///< the token as the vocabulary has it, where the session keeps it
  std::string text;         ///< text of its sequence, if inputs were recorded
  std::string label;
};
/// Throws Error(bad_input) where the run has no such cell, or keeps no decisions.
std::shared_ptr<const CellTrail> read_cell_trail(const std::string& file, int64_t run, const CellPlace& place);

}  // namespace stormcell
