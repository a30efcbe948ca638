// The figures of a run's plans and answers as rows of the overview. Pure.
#pragma once
#include "views/overview/overview_model.h"

namespace stormcell::views {

/// `situation` has a summary.
void set_figures(const Situation& situation, OverviewPageModel& page);
/// Sets the session's counts, for a run without a summary.
void set_recorded_figures(const Situation& situation, OverviewPageModel& page);

}  // namespace stormcell::views
