// The façade: opens model, weights and data once, then runs, verifies and measures configurations of it. A verb of the command line is a
// thin client, the Studio another.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/passes/pass_selection.h"
#include "core/summary/results.h"
#include "core/summary/settings.h"

namespace stormcell {

/// Of --phase both: told of the first half when that is done.
using HalfDone = std::function<void(const RunSummaryFigures& first)>;

struct RunOptions {
  std::string session;                            ///< file to append to; empty: none
  bool decisions = false;                         ///< record every decision
  std::string config;                             ///< JSON text of a stormcell.config/1 to replay; empty: the baseline
  std::string config_name = "--config";           ///< what errors call it: its file
  std::string decode_config, decode_config_name;  ///< of --phase both: the same for decoding; empty: config is for one phase
  std::string outputs;                            ///< safetensors file for hidden states, logits and decisions
  /// As many batches as fit, drawn at random; under a budget of weights in the data's order. 7 rounds at least (mirrored.h).
  double measure_seconds = 3;
  std::string measuring_program;  ///< as OptimizeOptions has it
  HalfDone half_done = {};
};

struct OptimizeOptions {
  PassSelection passes;
  std::string session;
  double measure_seconds = 8;  ///< measuring of all plans together, mirrored; half as long again where a pass is left out
  bool alone = true;           ///< also measure each pass on its own
  double time_limit = 0;       ///< limit for the whole command, in seconds from `begun` on; 0: none
  double begun = 0;            ///< when the command began, by seconds_now(); 0: when optimize() is called
  /// Path of the program `stormcell`, which measures again in fresh processes; empty: this process opens the model again instead.
  std::string measuring_program;
  HalfDone half_done = {};
};

/// Takes seconds above 0, at most a day; otherwise Error(bad_input) that names --time-limit.
double parse_optimize_limit(std::string_view text);

class Experiment {
 public:
  /// Opens and checks everything. Throws Error.
  static std::unique_ptr<Experiment> open(const ExperimentOptions& options, const Progress& progress = {});
  ~Experiment();

  const ExperimentOptions& options() const;
  /// Every batch, forward or decoded, measured; with a session recorded; verified against the oracle.
  std::shared_ptr<const RunSummaryFigures> run(const RunOptions& options, const Progress& progress = {});
  /// The main job: profile, passes one by one and together, measured beside the baseline, without those that lose; verification; session.
  std::shared_ptr<const RunSummaryFigures> optimize(const OptimizeOptions& options, const Progress& progress = {});
  /// Greedy decoding.
  std::shared_ptr<const GenerateFigures> generate(const std::string& session, const Progress& progress = {});

  struct State;  ///< of the implementation
 private:
  explicit Experiment(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Opens the model anew and measures one plan, as a run's request says; request and answer are internal texts. The process that
/// `measuring_program` names calls it, then ends. Throws Error.
std::string measure_afresh(const std::string& request, const Progress& progress = {});

/// Changes whenever the files do that model and data are read from: names, sizes, times. Nothing is opened.
std::string files_revision(const ExperimentOptions& options);

}  // namespace stormcell
