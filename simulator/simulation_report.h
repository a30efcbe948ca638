// A simulation as one self-contained HTML page.
#pragma once
#include <string>

#include "simulator/simulate_figures.h"

namespace stormcell {

/// `output`: a file or "-".
void write_simulation_report(const SimulateFigures& figures, const std::string& output);

}  // namespace stormcell
