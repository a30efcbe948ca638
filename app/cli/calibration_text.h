// What measured calls said, as place, simulate and calibrate tell it.
#pragma once
#include <string>
#include <vector>

#include "core/planning/place.h"

namespace stormcell::cli {

/// "a, b, c, d, ...": ids of calls that a prediction goes by.
std::string calls_text(const std::vector<std::string>& ids);

/// Of a step: a table of phases, and what its columns are.
std::string calibration_text(const CalibrationUse& use);

}  // namespace stormcell::cli
