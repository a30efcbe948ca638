// Figures of the routers of a run, for summaries and for passes.
#pragma once
#include <string>
#include <vector>

#include "core/passes/pass.h"
#include "core/profile/accumulator.h"
#include "core/summary/results.h"

namespace stormcell {

/// Figures of each router over all batches, in the order of the layout.
std::vector<RouterFigures> router_figures(const ProfileAccumulator& counted);
/// Loads over the profiled batches.
LoadProfile load_profile(const ProfileAccumulator& counted);
/// Loads over the other batches (held out in an optimisation), prompts and turns of decoding together.
LoadProfile held_out_loads(const ProfileAccumulator& counted);
/// Labels with a real cell in a branch, each once: those of the first router in alphabetical order, then the new ones
/// of each next router.
std::vector<std::string> routed_labels(const ProfileAccumulator& counted);

}  // namespace stormcell
