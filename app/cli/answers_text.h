// The part of a page about the quality of the answers, and the exits at which they were given.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Begins with an empty line; nothing where nothing is known.
std::string answers_text(const RunSummaryFigures& figures, bool verbose);

}  // namespace stormcell::cli
