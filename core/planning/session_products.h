// Times of products over rows from a run that was recorded here.
#pragma once
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/measured_call.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// Reads the products of single experts from the events of their steps and the loads of their router: medians over like
/// numbers of rows, if at least three times are known. `session`: S.storm, S.storm#3, S.storm#name; without a run, the
/// newest one that has such steps, as `profile` records them. If experts compute together, the time of each is not
/// known. The device is the run's, its threads the mode. `sizes`: the experts' widths, which a run lacks, and the
/// format of their weights if the run's settings lack it. Error(bad_input): no such run, no widths or wrong ones, too
/// few times, weights that were read while it ran.
std::vector<MeasuredCall> read_session_products(const std::string& session, const SizeOptions& sizes,
                                                const Progress& progress);

}  // namespace stormcell
