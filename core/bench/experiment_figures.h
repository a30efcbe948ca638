// Figures of an open experiment.
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
/// The device as it was probed so far.
DeviceFigures device_figures(const ExperimentState& state);
/// The settings as they ran, for one phase: forward or decode.
std::string settings_json(const ExperimentState& state, WorkPhase phase);
/// Warnings about the model, the data and the options.
std::vector<std::string> warnings_of(const ExperimentState& state);

/// Warns of disturbances: ceilings that changed, executions of the same batch that differed (`spread`, see
/// repeat_spread()), other programs at work.
void warn_of_noise(const ExperimentState& state, double spread, const OtherLoad& others,
                   std::vector<std::string>& warnings);
/// Reports the budget since it was restarted, and warns of what is to be known of it. Nothing without one.
void tell_of_budget(const ExperimentState& state, std::optional<BudgetFigures>& figures,
                    std::vector<std::string>& warnings);

}  // namespace stormcell
