// The words of place, simulate and calibrate about measured calls.
#pragma once
#include <string>
#include <vector>

#include "core/planning/place.h"

namespace stormcell::cli {

/// "a, b, c, d, ...": ids of calls that a prediction goes by.
std::string calls_text(const std::vector<std::string>& ids);

/// A table of the phases of a step, and the meaning of its columns.
std::string calibration_text(const CalibrationUse& use);

}  // namespace stormcell::cli
