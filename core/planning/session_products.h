// Times of products over rows from a run that was recorded here.
#pragma once
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/measured_call.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// Of single experts' products, by the events of their steps and the loads of their router: medians, of like numbers of
/// rows together, where at least three times are known. `session`: S.storm, S.storm#3, S.storm#name; else the newest
/// run that has such steps, as `profile` records them: where experts compute together, nobody knows how long each of
/// them took. The device is the run's, its threads the mode. `sizes`: the experts' widths, which a run does not say,
/// and the format of their weights where the run's settings do not. Error(bad_input): no such run, no widths or wrong
/// ones, too few times, weights that were read while it ran.
std::vector<MeasuredCall> read_session_products(const std::string& session, const SizeOptions& sizes,
                                                const Progress& progress);

}  // namespace stormcell
