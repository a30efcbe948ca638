// The façade: opens model, weights and data once, then runs, verifies and measures configurations of it. A verb of the
// command line is a thin client, the Studio another.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/base/progress.h"
#include "core/experiment/run_options.h"
#include "core/summary/results.h"
#include "core/summary/settings.h"
#include "core/summary/text_listener.h"

namespace stormcell {

/// Takes seconds above 0, at most a day; otherwise Error(bad_input) that names --time-limit.
double parse_optimize_limit(std::string_view text);

struct ExperimentState;  ///< the open model, data and device (state.h), behind the wall

class Experiment {
 public:
  /// Opens and checks everything. Throws Error.
  static std::unique_ptr<Experiment> open(const ExperimentOptions& options, const Progress& progress = {});
  ~Experiment();

  const ExperimentOptions& options() const;
  /// Runs every batch, forward or decoded. The run is measured, recorded if there is a session, and verified against
  /// the oracle.
  std::shared_ptr<const RunSummaryFigures> run(const RunOptions& options, const Progress& progress = {});
  /// The main job: profile, passes one by one and together, measured beside the baseline, without those that lose;
  /// verification; session.
  std::shared_ptr<const RunSummaryFigures> optimize(const OptimizeOptions& options, const Progress& progress = {});
  /// Two runs of one phase over the same data, as the model came and with an intervention: both recorded, and verified
  /// against an oracle with the same intervention. Throws Error(bad_input) where it does not fit the model.
  std::shared_ptr<const WhatIfFigures> what_if(const WhatIfOptions& options, const Progress& progress = {});
  /// Decoding: greedy, or drawn as the options say. `listener` hears the texts while they are written; null: nobody does.
  std::shared_ptr<const GenerateFigures> generate(const std::string& session, const Progress& progress = {},
                                                  TextListener* listener = nullptr);

 private:
  explicit Experiment(std::unique_ptr<ExperimentState> state);
  std::unique_ptr<ExperimentState> state_;
};

/// Changes whenever the files do that model and data are read from: names, sizes, times. Nothing is opened.
std::string files_revision(const ExperimentOptions& options);

}  // namespace stormcell
