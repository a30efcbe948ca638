// Searches for a placement: candidates are fitted to one part of what may be fitted to, chosen by the other (the
// validation part), and fitted to both.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/place_figures.h"
#include "core/planning/place_options.h"
#include "core/planning/place_task.h"

namespace stormcell {

/// A placement and how it came about.
struct FoundPlacement {
  std::string name;  ///< "eplb", "load", "joint, together 0.5, slack 0.04", "steps from eplb"
  Placement placement;
};

struct SearchOutcome {
  Placement eplb;  ///< the layout that servers would make by themselves
  Placement result;
  std::optional<PlacementAim> aim;    ///< none: of solvers that look at loads alone
  std::string chosen;                 ///< how the result came about; empty: as the solver says
  std::optional<ChosenOn> chosen_on;  ///< none: nothing was chosen
  std::vector<FoundPlacement> tried;  ///< all fitted to the same: of these is the front of balance and traffic
  bool evenly = false;                ///< found by a search in which replicas share evenly and tokens have no homes
  bool by_clock = false;  ///< a search ended before its work was done: elsewhere another result may be found
  double bound = -1;      ///< lower bound of the fitted objective, in ms; below 0: not known
};

/// A placement that nobody searched.
SearchOutcome given_outcome(const PlaceTask& task, Placement result);
/// Searches by the options' solver. Error(bad_input): what the solver needs is not there.
SearchOutcome search_placement(const PlaceOptions& options, const PlaceTask& task, const Progress& progress);

/// Less even by no more than this, a layout with less traffic is the better one.
inline constexpr double kAboutAsEven = 0.05;

}  // namespace stormcell
