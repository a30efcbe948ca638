// What a search for a placement comes to, before anybody stores it.
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

/// What a search found, or a hand made, beside the other layouts, on both parts of the data. `begin`: since when its
/// seconds count.
SolvedPlacement judge_outcome(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                              SearchOutcome outcome, std::chrono::steady_clock::time_point begin,
                              const Progress& progress);
/// Into the session, unless the newest one there is the same; returns its number, which the figures get too.
int64_t store_solved(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task,
                     SolvedPlacement& solved);

}  // namespace stormcell
