// Text on the verification of a run, and on its speed.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

std::string proof_text(const RunSummaryFigures& figures, bool verbose);

}  // namespace stormcell::cli
