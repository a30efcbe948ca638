// Text on calibrations by measured calls, for place, simulate and calibrate.
#pragma once
#include <string>
#include <vector>

#include "core/planning/place.h"

namespace stormcell::cli {

/// "a, b, c, d, ...": ids of the calls that a prediction is made from.
std::string calls_text(const std::vector<std::string>& ids);

/// Calibration of a step: a table of phases, and the meaning of its columns.
std::string calibration_text(const CalibrationUse& use);

}  // namespace stormcell::cli
