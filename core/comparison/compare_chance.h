// Routing figures of two runs beside chance: a difference between two routers that may both be even is none.
#pragma once
#include "core/comparison/compare.h"
#include "core/readings/session_view.h"

namespace stormcell {

/// Sets `within_chance` of the figures that are judged, and takes back their significance where it is true. `a`, `b`: of
/// the routers of each run; empty: not judged.
void mark_within_chance(const LoadChances& a, const LoadChances& b, Comparison& comparison);

}  // namespace stormcell
