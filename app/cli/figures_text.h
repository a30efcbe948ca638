// Text on a run: short, aligned, every figure with its unit and its origin.
#pragma once
#include <string>
#include <string_view>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Text of run, profile and optimize.
std::string to_text(const RunSummaryFigures& figures, bool verbose);
/// Texts of --phase both, one phase after the other.
std::string to_text_of_first(const RunSummaryFigures& figures, bool verbose);
std::string to_text_of_second(const RunSummaryFigures& figures, bool verbose);
/// "forward", "decoding": title of figures and prefix of warnings if there are two phases.
std::string phase_title(std::string_view phase);

}  // namespace stormcell::cli
