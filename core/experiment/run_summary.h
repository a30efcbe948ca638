// How the summary and the configuration of every verb begin.
#pragma once
#include "core/experiment/state.h"
#include "core/summary/plan_config.h"

namespace stormcell {

/// Model, data, settings and warnings of what is open.
std::shared_ptr<RunSummaryFigures> start_summary(const Experiment::State& state, const std::string& verb);
/// Model, device and number format; no pass yet.
PlanConfig start_config(const Experiment::State& state);

}  // namespace stormcell
