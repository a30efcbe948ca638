// What the verbs print for people of a run: short, aligned, every figure with its unit and how it was come by.
#pragma once
#include <string>
#include <string_view>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Of run, profile and optimize.
std::string to_text(const RunSummaryFigures& figures, bool verbose);
/// Of --phase both, one phase after the other.
std::string to_text_of_first(const RunSummaryFigures& figures, bool verbose);
std::string to_text_of_second(const RunSummaryFigures& figures, bool verbose);
/// "forward", "decoding": what stands above figures and before warnings where there are two.
std::string phase_title(std::string_view phase);

}  // namespace stormcell::cli
