// What measured calls said of a step, as place and simulate tell it.
#pragma once
#include <string>

#include "core/planning/place.h"

namespace stormcell::cli {

/// A table of phases, and what its columns are.
std::string calibration_text(const CalibrationUse& use);

}  // namespace stormcell::cli
