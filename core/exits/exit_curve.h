// Early exits as a subject: the whole curve of quality against mean cost over thresholds, from one recorded run.
#pragma once
#include "core/exits/exit_record.h"

namespace stormcell {

/// What the thresholds of the graph give, and one threshold after another for all exits, spread as the confidences of
/// the record are: the rule of the exits is asked what it would have decided on its scores.
ExitCurve exit_curve(const ExitRecord& record);

}  // namespace stormcell
