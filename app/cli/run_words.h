// Conclusions from a run: how fast, whether verified, by which passes, at what cost, and the next command.
#pragma once
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell::cli {

/// For run, profile and optimize, of one phase. A sentence each.
std::vector<std::string> run_conclusions(const RunSummaryFigures& figures);
/// For generate.
std::vector<std::string> generation_conclusions(const GenerateFigures& figures);
/// The cost of recording: "0.8 % of the run, 95 % interval 0.5 to 1.1 %", "not measured".
std::string overhead_text(const RunSummaryFigures& figures);

}  // namespace stormcell::cli
