// What the verbs print of how good the answers are, and at which exits they were given.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

/// Begins with an empty line; nothing where nothing is known.
std::string answers_text(const RunSummaryFigures& figures, bool verbose);

}  // namespace stormcell::cli
