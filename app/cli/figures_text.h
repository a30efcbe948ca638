// Text on a run: short, aligned, every figure with its unit and its origin.
#pragma once
#include <string>
#include <string_view>

#include "app/cli/page.h"
#include "core/summary/results.h"

namespace stormcell::cli {

/// `verbose`: with the figures of routers and operators, too.
Page page_of(const RunSummaryFigures& figures, bool verbose);
/// For --phase both, one phase after the other.
Page page_of_first(const RunSummaryFigures& figures, bool verbose);
Page page_of_second(const RunSummaryFigures& figures, bool verbose);
/// "forward", "decoding": what stands above figures and before warnings where there are two.
std::string phase_title(std::string_view phase);

}  // namespace stormcell::cli
