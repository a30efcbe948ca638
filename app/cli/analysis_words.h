// Conclusions from the analysis of a routing.
#pragma once
#include <string>
#include <vector>

#include "core/comparison/analyze.h"

namespace stormcell::cli {

/// The least even layers, whether that is beyond chance, whether the sample is enough for a placement, and the next
/// command; also what --against or --cache found. A sentence each.
std::vector<std::string> analysis_conclusions(const AnalyzeFigures& figures);

}  // namespace stormcell::cli
