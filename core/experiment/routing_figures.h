// What was counted of a run, as summaries show it and as passes ask for it.
#pragma once
#include <string>
#include <vector>

#include "core/passes/pass.h"
#include "core/profile/accumulator.h"
#include "core/summary/results.h"

namespace stormcell {

/// Of each router of the layout, in its order, over all batches.
std::vector<RouterFigures> router_figures(const ProfileAccumulator& counted);
/// Over the batches that are profiled.
LoadProfile load_profile(const ProfileAccumulator& counted);
/// Over the others, of an optimisation those that are held out, without telling prompts from turns.
LoadProfile held_out_loads(const ProfileAccumulator& counted);
/// Labels of which a real cell went to a branch, each once: those of the first router in alphabetical order, then what
/// others add.
std::vector<std::string> routed_labels(const ProfileAccumulator& counted);

}  // namespace stormcell
