// A simulation as one self-contained HTML page.
#pragma once
#include <string>

namespace stormcell {

/// `json`: stormcell.simulate/1, all that the page says comes from it. `output`: a file or "-".
void write_simulation_report(const std::string& json, const std::string& output);

}  // namespace stormcell
