// Pages of published figures: those of one recording beside chance, and the saturation of checkpoints.
#pragma once
#include <string>

#include "core/patterns/patterns.h"
#include "core/patterns/saturation.h"

namespace stormcell {

/// `command`: the line that makes the page again. `output`: a file or "-". Nothing in the page refers to anything
/// outside it. Throws Error if it cannot be written.
void write_patterns_report(const PatternFigures& figures, const std::string& command, const std::string& output);
void write_saturation_report(const SaturationFigures& figures, const std::string& command, const std::string& output);

}  // namespace stormcell
