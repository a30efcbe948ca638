// Simulates a recorded routing on GPUs that are not at hand: steps, layers, GPUs and links of a placement by endpoint
// sums, and one exchange by filling its links.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/planning/step_figures.h"
#include "simulator/simulate_figures.h"

namespace stormcell {

struct SimulateOptions {
  std::string session;    ///< S.storm, S.storm#3, S.storm#name: the recorded routing
  std::string cluster;    ///< preset:NAME or a file
  std::string placement;  ///< #4 or #NAME of the same session, S.storm#4, a server's file; empty: the contiguous layout
  std::string made_from;  ///< S.storm, S.storm#3: the run that the placement was made from; empty: what the stored
                          ///< placement says
  std::string phase;      ///< "prefill", "decode": only these batches; empty: all
  StepOptions step;       ///< source of the steps
  SizeOptions sizes;      ///< of the model, if the session does not have them
  std::string overlap;    ///< of overlaps(); empty: none
  /// a calibration's file: measured calls give rates and start-up times if they can; may be empty
  std::string calibration;
  double oversubscription = 1;  ///< rate of a node's network ports together / rate of its uplink
  /// Milliseconds of a step that are neither experts nor exchange: attention, norms, sampling. Nothing: not stated.
  std::optional<double> rest_ms = {};
  /// a layer, as the session numbers its routers from 0, whose exchanges of one step are filled; -1: none
  int64_t collective = -1;
  int64_t collective_step = 0;  ///< of the costed ones
};

/// Words of Overlap, for the command line and the window.
std::vector<std::string_view> overlaps();
/// Limit of an oversubscription, and of a capacity's factor.
inline constexpr double kMostFactor = 1000;
/// At least 1; Error(bad_input) that names --oversubscription otherwise.
double parse_oversubscription(std::string_view text);
/// Above 0; Error(bad_input) that names --capacity-factor otherwise.
double parse_capacity_factor(std::string_view text);
/// Takes milliseconds above 0; otherwise Error(bad_input) that names --rest-ms.
double parse_rest_ms(std::string_view text);
inline constexpr double kMostRestMs = 3.6e6;  ///< an hour

/// Error(bad_input): no sizes of the model, no steps, a placement of another model or cluster, experts that do not fit
/// into the GPUs, a collective of more than 64 GPUs.
SimulateFigures simulate(const SimulateOptions& options, const Progress& progress = {});
/// stormcell.simulate/1
std::string to_json(const SimulateFigures& figures);

}  // namespace stormcell
