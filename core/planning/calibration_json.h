// The one form in which place and simulate write what measured calls said.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/planning/step_figures.h"

namespace stormcell {

/// Null: nothing was calibrated by.
nlohmann::ordered_json json_of_calibration(const std::optional<CalibrationUse>& use);
nlohmann::ordered_json json_of_trust(const std::optional<StepTrust>& trust);

}  // namespace stormcell
