// What the verbs print for people of a run: short, aligned, every figure with its unit and how it was come by.
#pragma once
#include <string>
#include <vector>

#include "core/readings/session_runs.h"
#include "core/summary/results.h"

namespace stormcell::cli {

/// Of run, profile and optimize.
std::string to_text(const RunSummaryFigures& figures, bool verbose);
/// Of one phase of --phase both, behind the other's to_text().
std::string to_text_of_phase(const RunSummaryFigures& figures, bool verbose);
std::string to_text(const GenerateFigures& figures, bool verbose);
std::string to_text(const ModelStructure& structure, bool verbose);
/// Of inspect SESSION.
std::string to_text(const SessionRuns& runs);

}  // namespace stormcell::cli
