// Text on the quality of answers, and on the exits that gave them.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Begins with an empty line; empty if nothing is known.
std::string answers_text(const RunSummaryFigures& figures, bool verbose);

}  // namespace stormcell::cli
