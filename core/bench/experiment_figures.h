// What is open, as results tell it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_kind.h"
#include "core/bench/state.h"
#include "core/machine/other_load.h"

namespace stormcell {

ModelFigures model_figures(const ExperimentState& state);
DatasetFigures dataset_figures(const ExperimentState& state);
/// As it was probed so far.
DeviceFigures device_figures(const ExperimentState& state);
/// The settings as they ran, for one phase: forward or decode.
std::string settings_json(const ExperimentState& state, WorkPhase phase);
/// Of the model, the data and what was asked for.
std::vector<std::string> warnings_of(const ExperimentState& state);

/// What was not quiet: ceilings that changed, executions of the same batch that did (`spread`, see repeat_spread()),
/// others at work.
void warn_of_noise(const ExperimentState& state, double spread, const OtherLoad& others,
                   std::vector<std::string>& warnings);
/// What the budget did since it was restarted, and what is to be known of it. Nothing without one.
void tell_of_budget(const ExperimentState& state, std::optional<BudgetFigures>& figures,
                    std::vector<std::string>& warnings);

}  // namespace stormcell
