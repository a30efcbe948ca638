// Placements of a session's experts on a cluster: searched, judged on what they were not fitted to, and stored.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/planning/place_figures.h"
#include "core/planning/place_options.h"
#include "core/planning/placement_solvers.h"

namespace stormcell {

/// Seconds above 0; Error(bad_input) that names --time-limit otherwise.
double parse_time_limit(std::string_view text);
/// A share above 0 and at most 1; Error(bad_input) that names --fit-fraction otherwise.
double parse_fit_fraction(std::string_view text);

/// Values of --backend: how tokens may come to their experts' ranks.
std::vector<std::string_view> placement_backends();
/// Values of --replicas: which replicas of an expert a token may go to.
std::vector<std::string_view> replica_rules();
/// Values of --residence: where a token may live.
std::vector<std::string_view> residences();

/// Searches, stores the placement in the session unless the newest one there is the same, and returns its figures.
/// Error(bad_input): no loads, a cluster that does not fit or cannot hold the experts, slots that do not divide, a
/// solver that is not there.
PlaceFigures place(const PlaceOptions& options, const Progress& progress = {});
/// stormcell.place/1
std::string to_json(const PlaceFigures& figures);

/// "each" of --phase: a placement for each phase, of its own loads.
inline constexpr std::string_view kEachPhase = "each";
struct PhasePlacements {
  std::vector<PlaceFigures> phases;   ///< prefill, decode
  std::vector<std::string> warnings;  ///< warnings of both, with the phase
};
/// Both searched one after the other, the time limit for each, and stored as "NAME-prefill" and "NAME-decode".
/// Error(bad_input): as place() says, and a run that has not both phases.
PhasePlacements place_each_phase(const PlaceOptions& options, const Progress& progress = {});
/// stormcell.place/1 with one object for each phase under `phases`.
std::string to_json(const PhasePlacements& placements);

}  // namespace stormcell
