// What a search for a placement comes to, before anybody stores it.
#pragma once
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/place.h"
#include "core/planning/placement_search.h"

namespace stormcell {

struct SolvedPlacement {
  Placement placement;
  PlaceFigures figures;               ///< `placement` 0: not stored
  std::vector<FoundPlacement> tried;  ///< of which the front is, by its names
};

/// By the options' solver; with `given` that one is judged as the result, beside what the solver would find.
SolvedPlacement solve_task(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task, const Placement* given,
                           const Progress& progress);
/// Into the session; returns its number, which the figures get too.
int64_t store_solved(const PlaceOptions& options, const SessionReader& session, const PlaceTask& task, SolvedPlacement& solved);

}  // namespace stormcell
