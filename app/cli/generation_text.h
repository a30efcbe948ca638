// Text of generate.
#pragma once
#include <string>

#include "core/summary/results.h"

namespace stormcell::cli {

std::string to_text(const GenerateFigures& figures, bool verbose);

}  // namespace stormcell::cli
