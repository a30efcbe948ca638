// The outcome of a search for a placement, before it is stored.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/place_figures.h"
#include "core/planning/place_options.h"
#include "core/planning/place_task.h"
#include "core/planning/placement_search.h"

namespace stormcell {

struct SolvedPlacement {
  Placement placement;
  PlaceFigures figures;               ///< `placement` 0: not stored
  std::vector<FoundPlacement> tried;  ///< the front is of these: LayoutLine::tried
};

/// Compares the outcome of a search, or a placement made by hand, with the other layouts on both parts of the data.
/// `begin`: the time from which its seconds count.
SolvedPlacement judge_outcome(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                              SearchOutcome outcome, std::chrono::steady_clock::time_point begin,
                              const Progress& progress);
/// Stores it in the session, unless the newest one there is the same. Returns its number, and sets it in the figures.
int64_t store_solved(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                     SolvedPlacement& solved);

}  // namespace stormcell
